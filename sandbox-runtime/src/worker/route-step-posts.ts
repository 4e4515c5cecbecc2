import type { ExceededLimit } from '@headwater/shared';
import type { SandboxReporter } from '../bridge/frames-to-host.ts';
import { POST } from '../bridge/isolate-codes.ts';
import { readResponseHead } from '../bridge/read-heads.ts';
import { readCutNames, readExportName, readFlow, readSendKind } from '../bridge/read-step-heads.ts';
import { postBytesOf, postContentOf, optionalOf, textOf } from './post-values.ts';
import type { ProcessRun } from './process-run.ts';

type StepPost = (typeof POST)['stepExport' | 'stepSend' | 'stepFlow' | 'stepRespond' | 'stepProps'];

const STEP_POSTS = new Set<unknown>([POST.stepExport, POST.stepSend, POST.stepFlow, POST.stepRespond, POST.stepProps]);

export function isStepPost(kind: unknown): kind is StepPost {
  return STEP_POSTS.has(kind);
}

/**
 * Passes on what a step does by its `$`. Answers the limit of the run that was gone over. Throws
 * FrameError for what is not sound; a long JSON text is not read here, and the host fails the step
 * for it.
 */
export function routeStepPost(
  reporter: SandboxReporter,
  { run, budget, conduct }: ProcessRun,
  kind: StepPost,
  a: string,
  b: unknown,
  c: unknown,
): ExceededLimit | undefined {
  let exceeded: ExceededLimit | undefined;
  switch (kind) {
    case POST.stepExport: {
      const [name, json] = [readExportName(a), textOf(b)];
      conduct.stepValue(json);
      exceeded = budget.takeExport(name, json);
      if (exceeded === undefined) reporter.stepExport(run, name, json);
      return exceeded;
    }
    case POST.stepSend: {
      const [sendKind, payload] = [readSendKind(a), textOf(b)];
      conduct.stepValue(payload);
      exceeded = budget.takeSend(postBytesOf(payload));
      if (exceeded === undefined) reporter.stepSend(run, sendKind, payload);
      return exceeded;
    }
    case POST.stepFlow: {
      const context = optionalOf(b, textOf);
      conduct.stepFlow(readFlow(a, context));
      exceeded = budget.takeBytes(postBytesOf(a) + postBytesOf(context ?? ''));
      if (exceeded === undefined) reporter.stepFlow(run, a, context);
      return exceeded;
    }
    case POST.stepProps: {
      const cut = readCutNames(textOf(b));
      conduct.stepProps(a);
      reporter.stepProps(run, a, cut);
      return undefined;
    }
    case POST.stepRespond: {
      const body = postContentOf(b);
      readResponseHead(a);
      conduct.stepRespond();
      exceeded = budget.takeBytes(postBytesOf(body));
      if (exceeded === undefined) reporter.stepRespond(run, a, body, c === 'now');
      return exceeded;
    }
  }
}
