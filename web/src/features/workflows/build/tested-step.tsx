import type { ReactNode } from 'react';
import { JsonTree } from '../../../ui/json-tree.tsx';
import { Stack } from '../../../ui/stack.tsx';
import { Status } from '../../../ui/status.tsx';
import { formatDuration } from '../../../ui/time.tsx';
import type { TestedStep } from './sample.ts';

/** Result of a step's test, shown beside the form. */
export function TestedStepView({ step }: { step: TestedStep }) {
  const { namespace, status, started_at: from, ended_at: to, error, logs, flow, sends, responds } = step;
  return (
    <div className="flex flex-col gap-3" role="group" aria-label={`Result of ${namespace}`}>
      <p className="flex items-center gap-2 text-sm">
        <Status of={status === 'done' ? 'succeeded' : 'failed'} />
        <span className="text-xs text-ink-faint tabular-nums">{formatDuration(to - from)}</span>
        {flow !== null && <span className="text-xs text-ink-soft">{flowText(flow)}</span>}
      </p>
      {error !== null && (
        <div role="alert" className="rounded-md border border-bad/30 bg-bad-soft p-3 text-sm">
          <p className="font-medium text-bad">{error.code}</p>
          <p className="break-words whitespace-pre-wrap">{error.message}</p>
          {error.stack !== null && <Stack text={error.stack} message={error.message} />}
        </div>
      )}
      {step.$return_value !== undefined && (
        <Part title="Returned">
          <JsonTree value={step.$return_value} label={`What ${namespace} returned`} maxHeight={240} />
        </Part>
      )}
      {isFilled(step.exports) && (
        <Part title="Exports">
          <JsonTree value={step.exports} label={`Exports of ${namespace}`} maxHeight={240} />
        </Part>
      )}
      {logs.length > 0 && (
        <Part title="Logs">
          <ol className="rounded-md bg-sunken p-2 font-mono text-xs">
            {logs.map(({ at, message }, index) => (
              <li key={`${at} ${index}`} className="break-words whitespace-pre-wrap">
                {message}
              </li>
            ))}
          </ol>
        </Part>
      )}
      {isFilled(step.props) && (
        <Part title="Inputs">
          <JsonTree value={step.props} label={`Inputs of ${namespace}`} maxHeight={200} />
        </Part>
      )}
      {sends.length > 0 && (
        <Part title="Would send">
          <JsonTree value={sends} label={`What ${namespace} would send`} maxHeight={200} />
        </Part>
      )}
      {responds.length > 0 && (
        <Part title="Would answer">
          <JsonTree value={responds} label={`What ${namespace} would answer`} maxHeight={200} />
        </Part>
      )}
    </div>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div>
      <h3 className="mb-1 text-xs text-ink-faint">{title}</h3>
      {children}
    </div>
  );
}

/** A test waits for nothing: what the step asked for is told. */
function flowText({ kind, ms, reason }: NonNullable<TestedStep['flow']>): string {
  switch (kind) {
    case 'exit':
      return reason === undefined ? 'ends the workflow' : `ends the workflow: ${reason}`;
    case 'delay':
      return `would wait for ${formatDuration(ms ?? 0)}`;
    case 'suspend':
      return `would wait for a request, ${formatDuration(ms ?? 0)} at most`;
    case 'rerun':
      return `would run again in ${formatDuration(ms ?? 0)}`;
  }
}

function isFilled(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}
