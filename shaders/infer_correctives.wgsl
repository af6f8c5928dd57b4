// Stage infer_correctives: what networks add to vertices before these are skinned; the twin of src/cpu/infer_correctives.rs.
// First the perceptrons, a workgroup for each of an instance's two; then components, a workgroup for a block of vertices of up to
// NETWORK_GROUP instances.

@group(0) @binding(0) var<uniform> params: StepParams;
@group(0) @binding(1) var<storage, read> networks: array<NetworkPlace>;
@group(0) @binding(2) var<storage, read> network_words: array<u32>;
@group(0) @binding(3) var<storage, read> network_bases: array<u32>;
@group(0) @binding(4) var<storage, read> network_inputs: array<f32>;
@group(0) @binding(5) var<storage, read_write> network_units: array<f32>;
@group(0) @binding(6) var<storage, read> network_runs: array<NetworkRun>;
@group(0) @binding(7) var<storage, read> network_groups: array<NetworkGroup>;
@group(0) @binding(8) var<storage, read_write> skin_deltas: array<f32>;

// The coefficients of one of an instance's two perceptrons. A thread is a unit of each layer, or several.
@compute @workgroup_size(WORKGROUP_SIZE)
fn infer_coefficients(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = workgroup.x + workgroup.y * MAX_WORKGROUPS;
    if index >= 2u * params.network_count {
        return;
    }
    let run = network_runs[index / 2u];
    let passive = networks[run.network].layers[0];
    var layers = passive;
    var input_base = run.input_base;
    var units = run.unit_base;
    var coefficients = run.coefficient_base;
    var detail = run.passive_count;
    if index % 2u == 1u {
        layers = networks[run.network].layers[1];
        input_base = input_base + passive.inputs;
        units = units + passive.inputs + passive.first_hidden + passive.second_hidden;
        coefficients = coefficients + NETWORK_GROUP * passive.components;
        detail = run.active_count;
    }
    if layers.components == 0u {
        return;
    }
    var words = layers.words;
    for (var input = local; input < layers.inputs; input += WORKGROUP_SIZE) {
        let mean = number(words + input);
        network_units[units + input] = (network_inputs[input_base + input] - mean) / number(words + layers.inputs + input);
    }
    words = words + 2u * layers.inputs;
    storageBarrier();
    let first = units + layers.inputs;
    for (var unit = local; unit < layers.first_hidden; unit += WORKGROUP_SIZE) {
        network_units[first + unit] = larger(unit_of(words, layers.inputs, layers.first_hidden, units, unit), 0.0);
    }
    words = words + (layers.inputs + 1u) * filled_up(layers.first_hidden);
    storageBarrier();
    let second = first + layers.first_hidden;
    for (var unit = local; unit < layers.second_hidden; unit += WORKGROUP_SIZE) {
        let sum = unit_of(words, layers.first_hidden, layers.second_hidden, first, unit);
        network_units[second + unit] = larger(sum, 0.0);
    }
    words = words + (layers.first_hidden + 1u) * filled_up(layers.second_hidden);
    storageBarrier();
    let ranges = words + (layers.second_hidden + 1u) * filled_up(layers.components);
    for (var k = local; k < layers.components; k += WORKGROUP_SIZE) {
        let sum = unit_of(words, layers.second_hidden, layers.components, second, k);
        // What has overflowed has as little as there may be.
        let found = select(0.0, sum, abs(sum) <= MOST_OUTPUT);
        let bounded = between(found, number(ranges + k), number(ranges + layers.components + k));
        network_units[coefficients + NETWORK_GROUP * k] = bounded * between(detail - f32(k), 0.0, 1.0);
    }
}

// A unit of a layer before what is not linear, given its first word.
fn unit_of(words: u32, inputs: u32, outputs: u32, reads: u32, unit: u32) -> f32 {
    let width = filled_up(outputs);
    var sum = number(words + unit);
    for (var input = 0u; input < inputs; input++) {
        sum = sum + number(words + (input + 1u) * width + unit) * network_units[reads + input];
    }
    return sum;
}

// Units as rows of weights are filled up to.
fn filled_up(units: u32) -> u32 {
    return (units + BLOCK_NUMBERS - 1u) / BLOCK_NUMBERS * BLOCK_NUMBERS;
}

fn number(word: u32) -> f32 {
    return bitcast<f32>(network_words[word]);
}

// Displacements (m) of a block of vertices of some instances. A thread is one of a part's numbers, of each instance.
@compute @workgroup_size(WORKGROUP_SIZE)
fn infer_correctives(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = workgroup.x + workgroup.y * MAX_WORKGROUPS;
    if index >= params.network_block_count {
        return;
    }
    // The last group that begins no later.
    var low = 0u;
    var high = params.network_group_count;
    while high - low > 1u {
        let middle = (low + high) / 2u;
        if network_groups[middle].block_base <= index {
            low = middle;
        } else {
            high = middle;
        }
    }
    let group = network_groups[low];
    let block = index - group.block_base;
    let coefficients = network_runs[group.run_base].coefficient_base;
    let place = networks[network_runs[group.run_base].network];
    let first = network_words[place.first_base + block];
    let rows = network_words[place.first_base + block + 1u] - first;
    let row_words = BLOCK_NUMBERS / place.per_word;
    let there = vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(group.run_count);
    for (var part = 0u; part < 3u; part++) {
        let at = (3u * block + part) * BLOCK_NUMBERS + local;
        var mean = 0.0;
        if at < place.mean_count {
            mean = number(place.mean_base + at);
        }
        var sums = vec4<f32>(mean);
        let packed = place.basis_base + (3u * first + part * rows) * row_words;
        for (var row = 0u; row < rows; row++) {
            let head = place.row_base + 2u * (first + row);
            let own = coefficients + NETWORK_GROUP * network_words[head];
            let given = vec4<f32>(network_units[own], network_units[own + 1u], network_units[own + 2u], network_units[own + 3u]);
            let factors = select(vec4<f32>(), given * number(head + 1u), there);
            // What no instance has is not read.
            if any(factors != vec4<f32>()) {
                sums = sums + factors * packed_number(packed + row * row_words, place.per_word, local);
            }
        }
        if at >= place.mean_count {
            continue;
        }
        for (var k = 0u; k < group.run_count; k++) {
            let run = group.run_base + k;
            skin_deltas[network_runs[run].delta_base + at] = sums[k] * network_runs[run].weight;
        }
    }
}

// A number of a packed row, without the row's scale: with w words, word i has the numbers i, i + w, …, the first in its lowest
// bits.
fn packed_number(row: u32, per_word: u32, index: u32) -> f32 {
    let words = BLOCK_NUMBERS / per_word;
    let word = network_bases[row + index % words];
    let place = index / words;
    if per_word == 1u {
        return bitcast<f32>(word);
    }
    if per_word == 2u {
        return unpack2x16float(word)[place];
    }
    return f32(extractBits(bitcast<i32>(word), 8u * place, 8u));
}
