import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api, ask } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { classNames } from '../../ui/class-names.ts';
import { CopyMenu } from '../../ui/copy.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Panel } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { Status } from '../../ui/status.tsx';
import { formatDuration, Time } from '../../ui/time.tsx';
import type { Attempt, Delivery } from './webhook-queries.ts';

/** One delivery with its attempts on one time axis, and what the receiver answered. */
export function DeliveryDetail({ delivery, onClose }: { delivery: Delivery; onClose: () => void }) {
  const queries = useQueryClient();
  const { id, webhook_id, attempts, next_attempt_at } = delivery;
  const emitId = `${delivery.emitter_id}-${delivery.event_id}`;
  const span = spanOf(attempts);
  const again = useMutation({
    mutationFn: () =>
      ask(api.POST('/v1/webhooks/{id}/redeliver', { params: { path: { id: webhook_id } }, body: { delivery_id: id } })),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['deliveries'] });
      await queries.invalidateQueries({ queryKey: ['delivery', id] });
    },
  });
  return (
    <Panel
      title={`Delivery ${id}`}
      actions={
        <>
          <Button
            size="small"
            busy={again.isPending}
            disabled={['pending', 'sending', 'held'].includes(delivery.status)}
            onClick={() => again.mutate()}
          >
            <Icon name="retry" className="size-3.5" />
            Redeliver
          </Button>
          <CopyMenu command={{ path: `/v1/deliveries/${id}`, hw: `hw webhooks delivery ${id}` }} />
          <Button kind="quiet" size="small" onClick={onClose}>
            Close
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3 p-4">
        <ProblemNote error={again.error} />
        <p className="text-sm text-ink-soft">
          <Status of={delivery.status} /> Event{' '}
          <Link to="/events" search={{ id: emitId, event: emitId }} className="font-mono text-xs text-accent underline">
            {delivery.event_id}
          </Link>{' '}
          of{' '}
          <Link
            to={delivery.emitter_id.startsWith('p_') ? '/workflows/$id' : '/sources/$id'}
            params={{ id: delivery.emitter_id }}
            className="text-accent underline"
          >
            {delivery.emitter_id}
          </Link>
          {'. '}
          <Link to="/traces/$id" params={{ id: emitId }} className="text-accent underline">
            Trace
          </Link>
          {next_attempt_at !== null && (
            <>
              . Next attempt <Time atMs={next_attempt_at * 1000} />
            </>
          )}
        </p>
        <ol aria-label="Attempts" className="flex flex-col gap-2">
          {attempts.map((attempt, index) => (
            <AttemptRow key={attempt.at} attempt={attempt} number={index + 1} span={span} />
          ))}
        </ol>
      </div>
    </Panel>
  );
}

interface Span {
  fromMs: number;
  lengthMs: number;
}

function spanOf(attempts: readonly Attempt[]): Span {
  const starts = attempts.map(({ at }) => Date.parse(at));
  const ends = attempts.map(({ at, duration_ms: ms }) => Date.parse(at) + ms);
  const fromMs = Math.min(...starts);
  return { fromMs, lengthMs: Math.max(1, Math.max(...ends) - fromMs) };
}

/** Where the attempt lies between the beginning of the first and the end of the last. */
function Bar({ attempt, span: { fromMs, lengthMs }, isGood }: { attempt: Attempt; span: Span; isGood: boolean }) {
  const left = ((Date.parse(attempt.at) - fromMs) / lengthMs) * 100;
  const width = (attempt.duration_ms / lengthMs) * 100;
  return (
    <div aria-hidden="true" className="relative mt-2 h-1.5 rounded-full bg-sunken">
      <div
        className={classNames('absolute h-full min-w-1 rounded-full', isGood ? 'bg-good' : 'bg-bad')}
        style={{ left: `${Math.min(left, 99)}%`, width: `${Math.min(width, 100 - Math.min(left, 99))}%` }}
      />
    </div>
  );
}

function AttemptRow({ attempt, number, span }: { attempt: Attempt; number: number; span: Span }) {
  const isGood = attempt.status_code !== null && attempt.status_code >= 200 && attempt.status_code < 300;
  return (
    <li className="rounded-md border border-line p-3 text-sm">
      <div className="flex items-center gap-3">
        <span className="text-ink-faint">{number}</span>
        <Status
          of={isGood ? 'delivered' : 'failed'}
          label={attempt.status_code === null ? 'no answer' : `HTTP ${attempt.status_code}`}
        />
        <Time atMs={Date.parse(attempt.at)} />
        <span className="ml-auto text-ink-faint tabular-nums">{formatDuration(attempt.duration_ms)}</span>
      </div>
      <Bar attempt={attempt} span={span} isGood={isGood} />
      {attempt.error !== null && <p className="mt-2 text-bad">{attempt.error}</p>}
      {attempt.response !== null && attempt.response !== '' && (
        <pre className="mt-2 max-h-48 overflow-auto rounded bg-sunken p-2 font-mono text-xs whitespace-pre-wrap">
          {attempt.response}
        </pre>
      )}
    </li>
  );
}
