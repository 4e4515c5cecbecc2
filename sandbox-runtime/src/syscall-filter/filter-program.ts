import type { AllowedSyscall, ArgumentRule, FilterArch } from './syscalls.ts';

/**
 * Instructions of the kernel's classic packet filter: `code`, and how many to pass over if it is
 * true and if not.
 */
interface Instruction {
  code: number;
  ifTrue: number;
  ifFalse: number;
  value: number;
}

const LOAD = 0x20;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_BIT = 0x45;
const RETURN = 0x06;

/** Offsets in `struct seccomp_data`, the kernel's description of a call. */
const NUMBER_AT = 0;
const ARCH_AT = 4;
const ARGUMENTS_AT = 16;
const ARGUMENT_BYTES = 8;

const ARCH_IDS: Record<FilterArch, number> = { x64: 0xc0_00_00_3e, arm64: 0xc0_00_00_b7 };

const KILL_PROCESS = 0x80_00_00_00;
const ALLOW = 0x7f_ff_00_00;
/** "No such call": what libraries know how to do without on an older kernel, as with `clone3`. */
const ENOSYS = 38;
const REFUSE = 0x00_05_00_00 | ENOSYS;

/** Answers 0 without having done anything. */
const DO_NOTHING = 0x00_05_00_00;

export const INSTRUCTION_BYTES = 8;

/**
 * A filter for seccomp(2), as the bytes of its instructions. A call that is not allowed fails like
 * one that the kernel does not have. Calls by another processor's numbers (32-bit programs on a
 * 64-bit kernel) end the process.
 */
export function allowOnly(arch: FilterArch, allowed: readonly AllowedSyscall[]): Buffer {
  return encode([...ifOtherArch(arch, KILL_PROCESS), ...allowed.flatMap(allow), end(REFUSE)]);
}

/**
 * A filter that refuses these calls and allows all others. It also allows calls by another
 * processor's numbers: a processor emulator may make all its calls that way.
 */
export function refuseOnly(arch: FilterArch, refused: readonly number[]): Buffer {
  const each = refused.flatMap((number) => ifCall(number, [end(REFUSE)]));
  return encode([...ifOtherArch(arch, ALLOW), ...each, end(ALLOW)]);
}

function allow({ number, rule }: AllowedSyscall): Instruction[] {
  if (rule === undefined) return ifCall(number, [end(ALLOW)]);
  const otherwise = end(rule.otherwise === 'nothing' ? DO_NOTHING : REFUSE);
  return ifCall(number, [...load(argumentAt(rule)), ...check(rule), otherwise]);
}

/** Falls through to the next instruction if the argument breaks the rule. */
function check(rule: ArgumentRule): Instruction[] {
  if ('oneOf' in rule) return rule.oneOf.flatMap((value) => allowIf(JUMP_IF_EQUAL, true, value));
  return 'withBit' in rule ? allowIf(JUMP_IF_BIT, true, rule.withBit) : allowIf(JUMP_IF_BIT, false, rule.withoutBit);
}

function allowIf(code: number, isTrue: boolean, value: number): Instruction[] {
  return [{ code, ifTrue: isTrue ? 0 : 1, ifFalse: isTrue ? 1 : 0, value }, end(ALLOW)];
}

/** Its lower half: both processors are little-endian. */
function argumentAt({ argument }: ArgumentRule): number {
  return ARGUMENTS_AT + argument * ARGUMENT_BYTES;
}

/** The number of the call is loaded behind it. */
function ifOtherArch(arch: FilterArch, answer: number): Instruction[] {
  const isSame = { code: JUMP_IF_EQUAL, ifTrue: 1, ifFalse: 0, value: ARCH_IDS[arch] };
  return [...load(ARCH_AT), isSame, end(answer), ...load(NUMBER_AT)];
}

/** `then` ends the filter; any other call goes on behind it. */
function ifCall(number: number, then: readonly Instruction[]): Instruction[] {
  return [{ code: JUMP_IF_EQUAL, ifTrue: 0, ifFalse: then.length, value: number }, ...then];
}

function load(offset: number): [Instruction] {
  return [{ code: LOAD, ifTrue: 0, ifFalse: 0, value: offset }];
}

function end(value: number): Instruction {
  return { code: RETURN, ifTrue: 0, ifFalse: 0, value };
}

function encode(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * INSTRUCTION_BYTES);
  for (const [i, { code, ifTrue, ifFalse, value }] of program.entries()) {
    const at = i * INSTRUCTION_BYTES;
    bytes.writeUInt16LE(code, at);
    bytes.writeUInt8(ifTrue, at + 2);
    bytes.writeUInt8(ifFalse, at + 3);
    bytes.writeUInt32LE(value, at + 4);
  }
  return bytes;
}
