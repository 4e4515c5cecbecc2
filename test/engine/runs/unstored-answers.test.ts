import { expect, it } from 'vitest';
import type { HeldInvocation } from '../../../engine/src/events/invocation.ts';
import { ABANDONED } from '../../../engine/src/runs/abandon-run.ts';
import { createInvocationRunner } from '../../../engine/src/runs/invocation-runner.ts';
import { respondAfterOutput } from '../../../engine/src/runs/answer-client.ts';

/* Answers of runs that are not stored: what clients hear is what is stored. */

function unstored(): { invocation: HeldInvocation; answers: unknown[] } {
  const answers: unknown[] = [];
  const invocation = { id: 'inv_1', isUnstored: true, respond: (answer: unknown) => answers.push(answer) };
  return { invocation: invocation as unknown as HeldInvocation, answers };
}

const saying = (body: string) => ({ status: 200, headers: {}, body }) as never;

it('an answer of a try whose process died is not that of the run', () => {
  const { invocation, answers } = unstored();
  const { respond, again, end } = respondAfterOutput(invocation);
  respond(saying('first'), true);
  again();
  respond(saying('second'), true);
  expect(answers).toEqual([]);
  end({ ok: true });
  expect(answers).toEqual([{ ok: true, response: saying('second') }]);
});

it('a run that was given up has no answer of its own, as nothing of it is stored', () => {
  const { invocation, answers } = unstored();
  const { respond, end } = respondAfterOutput(invocation);
  respond(saying('stored'), true);
  end({ ok: false, ...ABANDONED, logs: [] });
  expect(answers).toEqual([{ ok: false, message: expect.any(String) }]);
});

it.each([
  ['stopped', { active: false, deleted: false }],
  ['deleted', { active: true, deleted: true }],
])('a client hears that its request is lost where the source is %s before it runs', async (_, runtime) => {
  const { invocation, answers } = unstored();
  const nothingElse = { runtimes: { get: async () => runtime } } as never;
  const run = createInvocationRunner(nothingElse);
  await run(invocation, () => undefined);
  expect(answers).toMatchObject([{ ok: false, request: 'lost' }]);
});
