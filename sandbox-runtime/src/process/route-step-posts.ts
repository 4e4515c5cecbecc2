import type { ExceededLimit } from '@headwater/shared';
import type { SandboxReporter } from '../protocol/guest-to-host.ts';
import { POST } from '../protocol/isolate-calls.ts';
import type { ProcessRun } from './process-run.ts';

/** Passes on what a step does by its `$`. Answers the limit of the run that was gone over. */
export function routeStepPost(
  reporter: SandboxReporter,
  { run, budget }: ProcessRun,
  kind: number,
  a: unknown,
  b: unknown,
  c: unknown,
): ExceededLimit | undefined {
  if (typeof a !== 'string') return undefined;
  if (kind === POST.stepFlow) {
    const context = typeof b === 'string' ? b : undefined;
    const exceeded = budget.takeBytes(a.length + bytesOf(context ?? ''));
    if (exceeded === undefined) reporter.stepFlow(run, a, context);
    return exceeded;
  }
  if (kind === POST.stepRespond) {
    if (!isContent(b)) return undefined;
    const exceeded = budget.takeBytes(bytesOf(b));
    if (exceeded === undefined) reporter.stepRespond(run, a, b, c === 'now');
    return exceeded;
  }
  if (typeof b !== 'string') return undefined;
  const isExport = kind === POST.stepExport;
  const exceeded = isExport ? budget.takeExport(a, b) : budget.takeSend(bytesOf(b));
  if (exceeded !== undefined) return exceeded;
  if (isExport) reporter.stepExport(run, a, b);
  else reporter.stepSend(run, a, b);
  return undefined;
}

/** In UTF-8; of bytes what came with them too, which is all of the buffer that they are a part of. */
export function bytesOf(content: string | Uint8Array): number {
  return typeof content === 'string' ? Buffer.byteLength(content) : content.buffer.byteLength;
}

/** What crosses as a body. */
export function isContent(value: unknown): value is string | Uint8Array {
  return typeof value === 'string' || value instanceof Uint8Array;
}
