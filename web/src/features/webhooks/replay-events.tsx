import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type SubmitEvent, useState } from 'react';
import { api, type Schemas } from '../../api/client.ts';
import { messagesFor } from '../../api/problem.ts';
import { Button } from '../../ui/button.tsx';
import { type Command, hwLine, isoOf } from '../../ui/command.ts';
import { CopyMenu } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, INPUT_CLASS, TextField } from '../../ui/field.tsx';
import { Icon } from '../../ui/icons.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { FilterField, readFilterText } from './subscription-filter.tsx';

type Replay = Schemas['Replay'];

interface ReplayEventsProps {
  /** The end that is given: the listener of a webhook's page, the emitter of a source's. */
  given: { listener_id: string } | { emitter_id: string };
  /** The name of a given listener. */
  listener?: string;
  /** The choices for the other end, names by id. */
  others: ReadonlyMap<string, string>;
}

const HOUR_MS = 3_600_000;
/** Milliseconds before now, by label; 0: all stored events. */
const SPANS = [
  ['The last hour', HOUR_MS],
  ['The last day', 24 * HOUR_MS],
  ['The last 7 days', 7 * 24 * HOUR_MS],
  ['Everything that is kept', 0],
] as const;

/**
 * Past events go to a listener, once the reader has seen how many they are and which of them it got
 * before.
 */
export function ReplayEvents(props: ReplayEventsProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button size={'emitter_id' in props.given ? 'small' : 'normal'} needs="change" onClick={() => setOpen(true)}>
        <Icon name="retry" />
        Replay past events…
      </Button>
      {isOpen && <ReplayDialog {...props} onClose={() => setOpen(false)} />}
    </>
  );
}

function ReplayDialog({ given, listener, others, onClose }: ReplayEventsProps & { onClose: () => void }) {
  const [other, setOther] = useState('');
  const [spanMs, setSpanMs] = useState<number>(24 * HOUR_MS);
  const [channel, setChannel] = useState('');
  const [filter, setFilter] = useState('');
  const [rate, setRate] = useState('');
  const isOfEmitter = 'emitter_id' in given;
  const ends = {
    emitter_id: isOfEmitter ? given.emitter_id : other,
    listener_id: isOfEmitter ? other : given.listener_id,
  };
  const since = spanMs === 0 ? undefined : String(Date.now() - spanMs);
  const request = (dryRun: boolean) =>
    api
      .post('/v1/replays', {
        body: {
          ...ends,
          ...(since === undefined ? {} : { since }),
          ...(channel === '' ? {} : { event_name: channel }),
          ...(filter === '' ? {} : { filter: readFilterText(filter) }),
          ...(rate === '' ? {} : { rate_per_second: Number(rate) }),
          ...(dryRun ? { dry_run: true } : {}),
        },
      })
      .then(({ data }) => data);
  const counting = useMutation({ mutationFn: () => request(true) });
  const starting = useMutation({ mutationFn: () => request(false) });
  const changed =
    <T,>(set: (value: T) => void) =>
    (value: T) => {
      set(value);
      counting.reset();
      starting.reset();
    };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    counting.mutate();
  };
  const error = counting.error ?? starting.error;
  return (
    <Dialog
      open
      onClose={onClose}
      title="Replay past events"
      description="They are sent the oldest first, with the ids that they always have."
    >
      {starting.data === undefined ? (
        <form onSubmit={submit} className="flex flex-col gap-4">
          <Choice
            label={isOfEmitter ? 'Listener' : 'Emitter'}
            value={other}
            onChange={changed(setOther)}
            options={[['', 'Choose…'], ...others]}
          />
          <Choice
            label="Events of"
            value={String(spanMs)}
            onChange={changed((value: string) => setSpanMs(Number(value)))}
            options={SPANS.map(([label, ms]) => [String(ms), label])}
          />
          <TextField
            label="Channel"
            optional
            value={channel}
            onChange={({ target }) => changed(setChannel)(target.value)}
            placeholder="all channels"
          />
          <FilterField value={filter} onChange={changed(setFilter)} error={error} />
          <TextField
            label="Events a second"
            optional
            type="number"
            min={1}
            value={rate}
            onChange={({ target }) => changed(setRate)(target.value)}
            placeholder="as fast as it goes"
            errors={messagesFor(error, 'rate_per_second')}
          />
          <ProblemNote error={error} />
          {counting.data !== undefined && <Counted replay={counting.data} listener={listener ?? others.get(other)} />}
          <div className="flex justify-end gap-2">
            <CopyMenu command={commandOf(ends, { since, channel, filter, rate })} />
            <Button type="submit" busy={counting.isPending} disabled={other === ''}>
              Count
            </Button>
            <Button
              kind="primary"
              busy={starting.isPending}
              disabled={counting.data === undefined || counting.data.count === 0}
              onClick={() => starting.mutate()}
            >
              {counting.data === undefined ? 'Replay' : `Replay ${counting.data.count}`}
            </Button>
          </div>
        </form>
      ) : (
        <Progress started={starting.data} />
      )}
    </Dialog>
  );
}

interface Ends {
  emitter_id: string;
  listener_id: string;
}

interface Narrowing {
  since: string | undefined;
  channel: string;
  filter: string;
  rate: string;
}

function commandOf(ends: Ends, { since, channel, filter, rate }: Narrowing): Command {
  return {
    method: 'POST',
    path: '/v1/replays',
    body: {
      ...ends,
      since,
      event_name: channel || undefined,
      filter: readFilterText(filter) ?? undefined,
      rate_per_second: Number(rate) || undefined,
    },
    hw: hwLine(['replays', 'create', ends.emitter_id, ends.listener_id], {
      since: isoOf(since),
      channel,
      filter,
      rate,
    }),
  };
}

interface ChoiceProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  options: readonly (readonly [value: string, label: string])[];
}

function Choice({ label, value, onChange, options }: ChoiceProps) {
  return (
    <Field label={label}>
      {(ids) => (
        <select {...ids} className={INPUT_CLASS} value={value} onChange={({ target }) => onChange(target.value)}>
          {options.map(([id, name]) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

function Counted({ replay, listener }: { replay: Replay; listener: string | undefined }) {
  const { count, count_is_complete: isComplete, delivered_before: before, listener_id: id } = replay;
  const what = count === 1 ? '1 event matches' : `${count} events match`;
  return (
    <div role="status" className="flex flex-col gap-1 text-sm">
      <p>
        <strong>{what}</strong>
        {isComplete ? '.' : ' of those that were looked through; there may be more.'}
      </p>
      {before > 0 && (
        <p className="text-warn">
          {listener ?? id} got {before} of these events before and gets {before === 1 ? 'it' : 'them'} again.
        </p>
      )}
    </div>
  );
}

function Progress({ started }: { started: Replay }) {
  const id = started.id ?? '';
  const { data: replay = started } = useQuery({
    queryKey: ['replay', id],
    queryFn: () => api.get('/v1/replays/{id}', { path: { id } }).then(({ data }) => data),
    refetchInterval: ({ state }) => (state.data === undefined || state.data.status === 'running' ? 1_000 : false),
  });
  const cancelling = useMutation({
    mutationFn: () => api.delete('/v1/replays/{id}', { path: { id } }),
  });
  return (
    <div className="flex flex-col gap-4 text-sm">
      <p role="status">
        <strong>{replay.status}</strong>: {replay.sent} of {replay.count} sent. It goes on when this page is closed: see{' '}
        <Link to="/replays" className="text-accent underline">
          Replays
        </Link>
        .
      </p>
      <progress className="w-full" value={replay.sent} max={Math.max(replay.count, 1)} aria-label="Events sent" />
      <ProblemNote error={cancelling.error} />
      {replay.status === 'running' && (
        <div className="flex justify-end">
          <Button needs="change" busy={cancelling.isPending} onClick={() => cancelling.mutate()}>
            Cancel the replay
          </Button>
        </div>
      )}
    </div>
  );
}
