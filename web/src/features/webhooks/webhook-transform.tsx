import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, forState, type Schemas } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { Field, INPUT_CLASS } from '../../ui/field.tsx';
import { Panel } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { Status } from '../../ui/status.tsx';
import type { WholeWebhook } from './webhook-queries.ts';

const SAMPLE = `export default {
  name: 'Transform',
  version: '0.0.1',
  type: 'transform',
  run(request) {
    // Return what is to change, { drop: 'a reason' }, or null.
    return { body: request.body };
  },
};
`;

/** Code that changes the requests: tried on past events before it is saved and switched on. */
export function WebhookTransform({ webhook }: { webhook: WholeWebhook }) {
  const { transform_id: id } = webhook;
  const { data: saved, error } = useQuery({
    queryKey: ['component', id],
    queryFn: ({ signal }) =>
      api.get('/v1/components/{id}', { path: { id: id ?? '' }, signal }).then(({ data }) => data),
    enabled: id !== null,
  });
  const isRead = id === null || saved !== undefined;
  return (
    <Panel title="Transform">
      <div className="flex flex-col gap-4 p-4">
        <p className="max-w-2xl text-sm text-ink-soft">
          {id === null
            ? 'Code that changes each request, or drops it. It runs in the sandbox and sees no secret.'
            : `${saved?.name ?? 'A component'} ${saved?.version ?? ''} (${id}) changes each request.`}
        </p>
        {isRead && <Editor key={id} webhook={webhook} code={saved?.code ?? SAMPLE} />}
        <ProblemNote error={error} />
      </div>
    </Panel>
  );
}

function Editor({ webhook, code: before }: { webhook: WholeWebhook; code: string }) {
  const [code, setCode] = useState(before);
  const queries = useQueryClient();
  const path = { id: webhook.id };
  const previewing = useMutation({
    mutationFn: () => api.post('/v1/webhooks/{id}/transform/preview', { path, body: { component_code: code } }),
  });
  const change = (transform_id: string | null) =>
    api.tagged('put', '/v1/webhooks/{id}', { path, headers: forState(webhook), body: { transform_id } });
  const onSuccess = (now: WholeWebhook) => queries.setQueryData(['webhook', webhook.id], now);
  const saving = useMutation({
    mutationFn: async () => {
      const { data } = await api.post('/v1/components', { body: { component_code: code } });
      return change(data.id);
    },
    onSuccess,
  });
  const removing = useMutation({ mutationFn: () => change(null), onSuccess });
  const events = previewing.data?.data.events;
  return (
    <>
      <Field label="Code" description="A component of the type transform.">
        {(ids) => (
          <textarea
            {...ids}
            rows={14}
            spellCheck={false}
            className={`${INPUT_CLASS} font-mono text-xs`}
            value={code}
            onChange={({ target }) => setCode(target.value)}
          />
        )}
      </Field>
      <div className="flex gap-2">
        <Button needs="change" busy={previewing.isPending} onClick={() => previewing.mutate()}>
          Preview on past events
        </Button>
        <Button kind="primary" busy={saving.isPending} onClick={() => saving.mutate()}>
          Save and switch on
        </Button>
        {webhook.transform_id !== null && (
          <Button needs="change" busy={removing.isPending} onClick={() => removing.mutate()}>
            Switch off
          </Button>
        )}
      </div>
      <ProblemNote error={saving.error ?? removing.error ?? previewing.error} />
      <div role="status" className="flex flex-col gap-3">
        {events?.length === 0 && <p className="text-sm text-ink-soft">The webhook got no events yet.</p>}
        {events?.map((event) => (
          <PreviewedEvent key={event.emit_id} event={event} />
        ))}
      </div>
    </>
  );
}

type Previewed = Schemas['TransformPreview']['events'][number];
type Request = Previewed['before'];

function PreviewedEvent({ event }: { event: Previewed }) {
  const { outcome, before, after, reason, error, logs } = event;
  const lines = after === null ? linesOf(before).map((text) => ({ sign: ' ', text })) : diffOf(before, after);
  return (
    <section aria-label={`Event ${event.event_id}`} className="rounded border border-line">
      <p className="flex items-center gap-2 p-2 text-sm">
        <Status
          of={outcome === 'sent' ? 'delivered' : outcome}
          label={outcome === 'sent' ? 'would be sent' : outcome}
        />
        <span className="font-mono text-xs">{event.event_id}</span>
        {error ?? reason}
      </p>
      <pre
        tabIndex={0}
        aria-label={`Request of event ${event.event_id}, before and after`}
        className="max-h-72 overflow-auto bg-sunken p-2 font-mono text-xs whitespace-pre-wrap"
      >
        {lines.map(({ sign, text }, place) => (
          <span key={place} className={LINE_CLASSES[sign]}>
            {sign} {text}
            {'\n'}
          </span>
        ))}
      </pre>
      {logs.length > 0 && (
        <pre className="p-2 font-mono text-xs whitespace-pre-wrap text-ink-soft">{logs.join('\n')}</pre>
      )}
    </section>
  );
}

const LINE_CLASSES: Record<string, string> = {
  '-': 'bg-bad-soft text-bad',
  '+': 'bg-good-soft text-good',
  ' ': '',
};

function linesOf({ method, path, headers, body }: Request): string[] {
  const named = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`${method} ${path}`, ...named, '', ...prettyOf(body).split('\n')];
}

function prettyOf(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    // A text, or cut: shown as it is.
    return body;
  }
}

/** Both begin and end alike; the lines between are taken out and put in. */
function diffOf(before: Request, after: Request): { sign: string; text: string }[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < old.length - head && tail < now.length - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++;
  const same = (lines: readonly string[]) => lines.map((text) => ({ sign: ' ', text }));
  return [
    ...same(old.slice(0, head)),
    ...old.slice(head, old.length - tail).map((text) => ({ sign: '-', text })),
    ...now.slice(head, now.length - tail).map((text) => ({ sign: '+', text })),
    ...same(old.slice(old.length - tail)),
  ];
}
