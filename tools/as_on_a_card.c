// Has Mesa's lavapipe round as a graphics card may: WGSL leaves open whether a product and a sum are rounded once, and by how many units
// in the last place quotients and roots are off. What fails so fails on a card too, where no debugger is.
//
//   gcc -shared -fPIC -O1 -o as_on_a_card.so tools/as_on_a_card.c -ldl -l:libLLVM-15.so.1    (the LLVM that lavapipe is linked with)
//   cargo test --no-run --test parity
//   CARD="fma rcp ulp assoc ftz" MESA_SHADER_CACHE_DIR=$(mktemp -d) LD_PRELOAD=./as_on_a_card.so target/debug/deps/parity-…
//
// It stands between lavapipe and the functions by which that builds code; never put it before cargo, whose rustc is built on LLVM too.
//
//   fma    a product and the sum that it goes into are rounded once
//   rcp    a quotient is a product with the divisor's inverse
//   ulp    roots' arguments and inverses are off by up to two units in the last place; powers of two are exact
//   assoc  a/b/c is a/(b·c)
//   ftz    what is less than the least normal number is 0, on threads of the CPU too

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
static Value of(Value value, int opcode)
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
    for (unsigned lane = 0; lane < count; lane++)
        lanes[lane] = number;
    return LLVMConstVector(lanes, count);
}

static Value one(Type type)
{
    return splat(type, LLVMConstReal(LLVMGetTypeKind(type) == VECTOR ? LLVMGetElementType(type) : type, 1.0));
}

// One unit in the last place more or less where the last bit is set, which of both by the bit before.
static Value off(Builder builder, Value value)
{
    Type type = LLVMTypeOf(value), number = LLVMInt32TypeInContext(LLVMGetTypeContext(type));
    Type bits = LLVMGetTypeKind(type) == VECTOR ? LLVMVectorType(number, LLVMGetVectorSize(type)) : number;
    Value as_bits = LLVMBuildBitCast(builder, value, bits, "");
    Value last = LLVMBuildAnd(builder, as_bits, splat(type, LLVMConstInt(number, 1, 0)), "");
    Value twice = LLVMBuildAdd(builder, last, last, "");
    Value up = LLVMBuildAnd(builder, as_bits, twice, "");
    Value moved = LLVMBuildSub(builder, LLVMBuildAdd(builder, as_bits, up, ""), last, "");
    return LLVMBuildBitCast(builder, moved, type, "");
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
        if ((product = of(a, FMUL)))
            return fused(builder, LLVMGetOperand(product, 0), LLVMGetOperand(product, 1),
                         less ? LLVMBuildFNeg(builder, b, "") : b);
        if ((product = of(b, FMUL))) {
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
    if (rounds("assoc") && (quotient = of(a, FDIV))) {
        b = multiply(builder, LLVMGetOperand(quotient, 1), b, "");
        a = LLVMGetOperand(quotient, 0);
    }
    if (!rounds("rcp"))
        return divide(builder, a, b, name);
    Value inverse = divide(builder, one(type), b, "");
    return multiply(builder, a, rounds("ulp") ? off(builder, inverse) : inverse, name);
}

Value LLVMBuildCall2(Builder builder, Type type, Value function, Value *arguments, unsigned count, const char *name)
{
    static const char ROOT[] = "llvm.sqrt";
    size_t length = 0;
    const char *called = LLVMGetValueName2(function, &length);
    int is_root = length >= strlen(ROOT) && !strncmp(called, ROOT, strlen(ROOT)) && is_f32(LLVMTypeOf(arguments[0]));
    Value rough[1];
    if (is_root && rounds("ulp")) {
        rough[0] = off(builder, off(builder, arguments[0]));
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
    struct Start *start = rounds("ftz") ? malloc(sizeof *start) : NULL;
    if (!start)
        return create(thread, attributes, run, with);
    *start = (struct Start){ run, with };
    return create(thread, attributes, flushing, start);
}
