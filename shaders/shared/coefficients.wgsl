// Coefficients of friction and restitution of two sides together; the twin of Coefficient::with in src/collisions.rs.

// The most that a coefficient of friction is.
const MOST_FRICTION: f32 = 1.0e3;

fn combined(own: f32, other: f32, rule: u32) -> f32 {
    var both = 0.5 * (own + other);
    switch rule {
        case 1u: {
            both = min(own, other);
        }
        case 2u: {
            both = own * other;
        }
        case 3u: {
            both = max(own, other);
        }
        case 4u: {
            both = clamp(own + other, 0.0, 1.0);
        }
        case 5u: {
            both = sqrt(own * other);
        }
        default: {}
    }
    return min(both, MOST_FRICTION);
}
