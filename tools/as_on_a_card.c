// Has Mesa's lavapipe round as a graphics card may: WGSL allows a product and a sum to be rounded once, and quotients and roots to be some
// units in the last place off. What fails so may fail on a card, where no debugger is. For x86-64.
//
//   gcc -shared -fPIC -O1 -Wall -o target/as_on_a_card.so tools/as_on_a_card.c -ldl -l:libLLVM-15.so.1   (that of lavapipe, see ldd)
//   cargo test --no-run --test parity
//   CARD="fma rcp ulp ftz" MESA_SHADER_CACHE_DISABLE=true LD_PRELOAD=target/as_on_a_card.so target/debug/deps/parity-…
//
// It stands between lavapipe and the functions by which that builds code; never put it before cargo, whose rustc is built on LLVM too.
//
//   fma    a product and the sum that it goes into are rounded once
//   rcp    a quotient is a product with the divisor's inverse
//   ulp    roots, and with rcp inverses, are a unit in the last place more or less where their last bit is set
//   assoc  a/b/c is a/(b·c); without rcp
//   ftz    what is less than the least normal number is 0, on all threads but the first

#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <xmmintrin.h>

// As llvm-c/Core.h has them.
typedef struct OpaqueValue *Value;
typedef struct OpaqueType *Type;
typedef struct OpaqueBuilder *Builder;
typedef struct OpaqueModule *Module;
typedef struct OpaqueBlock *Block;
typedef struct OpaqueContext *Context;
enum { FMUL = 13, FDIV = 16, FLOAT = 2, VECTOR = 13, MOST_LANES = 64 };

Value LLVMIsAInstruction(Value);
int LLVMGetInstructionOpcode(Value);
Value LLVMGetOperand(Value, unsigned);
Type LLVMTypeOf(Value);
const char *LLVMGetValueName2(Value, size_t *);
Block LLVMGetInsertBlock(Builder);
Value LLVMGetBasicBlockParent(Block);
Module LLVMGetGlobalParent(Value);
unsigned LLVMLookupIntrinsicID(const char *, size_t);
Value LLVMGetIntrinsicDeclaration(Module, unsigned, Type *, size_t);
Type LLVMGlobalGetValueType(Value);
int LLVMGetTypeKind(Type);
Type LLVMGetElementType(Type);
unsigned LLVMGetVectorSize(Type);
Context LLVMGetTypeContext(Type);
Type LLVMInt32TypeInContext(Context);
Type LLVMVectorType(Type, unsigned);
Value LLVMConstReal(Type, double);
Value LLVMConstInt(Type, unsigned long long, int);
Value LLVMConstVector(Value *, unsigned);
Value LLVMBuildFNeg(Builder, Value, const char *);
Value LLVMBuildBitCast(Builder, Value, Type, const char *);
Value LLVMBuildAnd(Builder, Value, Value, const char *);
Value LLVMBuildAdd(Builder, Value, Value, const char *);
Value LLVMBuildSub(Builder, Value, Value, const char *);
Value LLVMBuildMul(Builder, Value, Value, const char *);

typedef Value (*Binary)(Builder, Value, Value, const char *);
typedef Value (*Call)(Builder, Type, Value, Value *, unsigned, const char *);

static int rounds(const char *so)
{
    const char *card = getenv("CARD");
    return card && strstr(card, so);
}

static Binary llvm(const char *name) { return (Binary)dlsym(RTLD_NEXT, name); }

static Value call(Builder builder, Type type, Value function, Value *arguments, unsigned count, const char *name)
{
    return ((Call)dlsym(RTLD_NEXT, "LLVMBuildCall2"))(builder, type, function, arguments, count, name);
}

static int is_f32(Type type)
{
    if (LLVMGetTypeKind(type) == VECTOR)
        type = LLVMGetElementType(type);
    return LLVMGetTypeKind(type) == FLOAT;
}

// The instruction that a value is of, if it is one of such.
static Value made_by(Value value, int opcode)
{
    return LLVMIsAInstruction(value) && LLVMGetInstructionOpcode(value) == opcode ? value : NULL;
}

// A number in as many lanes as a type has.
static Value splat(Type type, Value number)
{
    if (LLVMGetTypeKind(type) != VECTOR)
        return number;
    Value lanes[MOST_LANES];
    unsigned count = LLVMGetVectorSize(type);
    if (count > MOST_LANES)
        abort();
    for (unsigned lane = 0; lane < count; lane++)
        lanes[lane] = number;
    return LLVMConstVector(lanes, count);
}

static Value one(Type type)
{
    return splat(type, LLVMConstReal(LLVMGetTypeKind(type) == VECTOR ? LLVMGetElementType(type) : type, 1.0));
}

// Some units in the last place more or less where the last bit is set, which of both by the bit before. Powers of two stay.
static Value off(Builder builder, Value value, unsigned units)
{
    Type type = LLVMTypeOf(value), word = LLVMInt32TypeInContext(LLVMGetTypeContext(type));
    Type words = LLVMGetTypeKind(type) == VECTOR ? LLVMVectorType(word, LLVMGetVectorSize(type)) : word;
    Value bits = LLVMBuildBitCast(builder, value, words, "");
    Value last = LLVMBuildAnd(builder, bits, splat(type, LLVMConstInt(word, 1, 0)), "");
    Value up = LLVMBuildAnd(builder, bits, LLVMBuildAdd(builder, last, last, ""), "");
    Value by = LLVMBuildMul(builder, LLVMBuildSub(builder, up, last, ""), splat(type, LLVMConstInt(word, units, 0)), "");
    return LLVMBuildBitCast(builder, LLVMBuildAdd(builder, bits, by, ""), type, "");
}

static Value fused(Builder builder, Value a, Value b, Value c)
{
    Type type = LLVMTypeOf(c);
    Module module = LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInsertBlock(builder)));
    Value fma = LLVMGetIntrinsicDeclaration(module, LLVMLookupIntrinsicID("llvm.fma", 8), &type, 1);
    Value arguments[] = { a, b, c };
    return call(builder, LLVMGlobalGetValueType(fma), fma, arguments, 3, "");
}

static Value sum(Builder builder, Value a, Value b, int less, const char *name)
{
    Value product;
    if (rounds("fma") && is_f32(LLVMTypeOf(a))) {
        if ((product = made_by(a, FMUL)))
            return fused(builder, LLVMGetOperand(product, 0), LLVMGetOperand(product, 1),
                         less ? LLVMBuildFNeg(builder, b, "") : b);
        if ((product = made_by(b, FMUL))) {
            Value factor = LLVMGetOperand(product, 0);
            return fused(builder, less ? LLVMBuildFNeg(builder, factor, "") : factor, LLVMGetOperand(product, 1), a);
        }
    }
    return llvm(less ? "LLVMBuildFSub" : "LLVMBuildFAdd")(builder, a, b, name);
}

Value LLVMBuildFAdd(Builder builder, Value a, Value b, const char *name) { return sum(builder, a, b, 0, name); }

Value LLVMBuildFSub(Builder builder, Value a, Value b, const char *name) { return sum(builder, a, b, 1, name); }

Value LLVMBuildFDiv(Builder builder, Value a, Value b, const char *name)
{
    Binary divide = llvm("LLVMBuildFDiv"), multiply = llvm("LLVMBuildFMul");
    Type type = LLVMTypeOf(a);
    Value quotient;
    if (!is_f32(type))
        return divide(builder, a, b, name);
    if (rounds("assoc") && (quotient = made_by(a, FDIV)))
        return divide(builder, LLVMGetOperand(quotient, 0), multiply(builder, LLVMGetOperand(quotient, 1), b, ""), name);
    // A quotient that is one to look through stays one.
    if (!rounds("rcp") || rounds("assoc"))
        return divide(builder, a, b, name);
    Value inverse = divide(builder, one(type), b, "");
    return multiply(builder, a, rounds("ulp") ? off(builder, inverse, 1) : inverse, name);
}

Value LLVMBuildCall2(Builder builder, Type type, Value function, Value *arguments, unsigned count, const char *name)
{
    static const char ROOT[] = "llvm.sqrt";
    size_t length = 0;
    const char *called = LLVMGetValueName2(function, &length);
    int is_root = length >= strlen(ROOT) && !strncmp(called, ROOT, strlen(ROOT)) && is_f32(LLVMTypeOf(arguments[0]));
    Value rough[1];
    if (is_root && rounds("ulp")) {
        // The argument: lavapipe gives the call attributes, which what comes after it has not. By two units it makes one of the root.
        rough[0] = off(builder, arguments[0], 2);
        arguments = rough;
    }
    return call(builder, type, function, arguments, count, name);
}

struct Start {
    void *(*run)(void *);
    void *with;
};

static void *flushing(void *given)
{
    struct Start start = *(struct Start *)given;
    free(given);
    // FTZ and DAZ.
    _mm_setcsr(_mm_getcsr() | 0x8040);
    return start.run(start.with);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *with)
{
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = dlsym(RTLD_NEXT, "pthread_create");
    if (!rounds("ftz"))
        return create(thread, attributes, run, with);
    struct Start *start = malloc(sizeof *start);
    if (!start)
        abort();
    *start = (struct Start){ run, with };
    int failed = create(thread, attributes, flushing, start);
    if (failed)
        free(start);
    return failed;
}
