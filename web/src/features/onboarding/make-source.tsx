import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { api } from '../../api/client.ts';
import { messagesFor } from '../../api/problem.ts';
import { missingRight } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { CodeView } from '../../ui/code-view.tsx';
import { TextField } from '../../ui/field.tsx';
import { Icon, type IconName } from '../../ui/icons.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { codeProblems } from '../sources/code-problems.ts';
import { TEMPLATES } from '../sources/templates.ts';

type Kind = 'bin' | 'schedule' | 'feed' | 'code';

const CHOICES: readonly { kind: Kind; name: string; icon: IconName; words: string }[] = [
  { kind: 'bin', name: 'Request bin', icon: 'source', words: 'A URL that makes an event of every request.' },
  { kind: 'schedule', name: 'Schedule', icon: 'clock', words: 'An event every minute.' },
  { kind: 'feed', name: 'RSS feed', icon: 'event', words: 'An event for each new item of a feed.' },
  {
    kind: 'code',
    name: 'Paste code',
    icon: 'workflow',
    words: 'A component of your own, in JavaScript or TypeScript.',
  },
];

type NewSource = { component_key: string; configured_props?: Record<string, unknown> } | { component_code: string };

const SCHEDULE = { component_key: 'schedule-timer', configured_props: { timer: { intervalSeconds: 60 } } };

/** The first click: what needs no answer is deployed at once. */
export function MakeSource({ onMade }: { onMade: (id: string) => void }) {
  const [open, setOpen] = useState<Kind>();
  const queries = useQueryClient();
  const making = useMutation({
    mutationFn: (body: NewSource) => api.post('/v1/sources', { body }),
    onSuccess: ({ data }) => {
      void queries.invalidateQueries({ queryKey: ['sources'] });
      void queries.invalidateQueries({ queryKey: ['user'] });
      onMade(data.id);
    },
  });
  const missing = missingRight('change');
  const choose = (kind: Kind) => {
    making.reset();
    setOpen(kind);
    if (kind === 'bin') making.mutate({ component_key: 'http-request-bin' });
    if (kind === 'schedule') making.mutate(SCHEDULE);
  };
  return (
    <div className="flex flex-col gap-4 p-4">
      <div className="grid gap-3 sm:grid-cols-2">
        {CHOICES.map(({ kind, name, icon, words }) => (
          <button
            key={kind}
            type="button"
            disabled={making.isPending || missing !== undefined}
            title={missing}
            aria-pressed={open === kind}
            aria-busy={(open === kind && making.isPending) || undefined}
            onClick={() => choose(kind)}
            className="flex items-start gap-3 rounded-lg border border-line-strong bg-surface p-4 text-left hover:border-accent hover:bg-sunken disabled:opacity-60 aria-pressed:border-accent aria-pressed:bg-accent-soft"
          >
            <span className="mt-0.5 text-accent">
              <Icon name={icon} className="size-5" />
            </span>
            <span>
              <span className="block font-medium">{name}</span>
              <span className="text-sm text-ink-soft">{words}</span>
            </span>
          </button>
        ))}
      </div>
      {open === 'feed' && (
        <FeedForm error={making.error} busy={making.isPending} onSubmit={(body) => making.mutate(body)} />
      )}
      {open === 'code' && (
        <CodeForm error={making.error} busy={making.isPending} onSubmit={(body) => making.mutate(body)} />
      )}
      <ProblemNote error={making.error} />
    </div>
  );
}

interface FormProps {
  error: unknown;
  busy: boolean;
  onSubmit: (body: NewSource) => void;
}

function FeedForm({ error, busy, onSubmit }: FormProps) {
  const [url, setUrl] = useState('');
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    onSubmit({ component_key: 'rss-new-items', configured_props: { url } });
  };
  return (
    <form onSubmit={submit} className="flex flex-wrap items-end gap-3">
      <div className="min-w-56 flex-1">
        <TextField
          label="Feed URL"
          type="url"
          required
          autoFocus
          value={url}
          onChange={({ target }) => setUrl(target.value)}
          errors={messagesFor(error, 'url')}
          placeholder="https://example.com/feed.xml"
        />
      </div>
      <Button type="submit" kind="primary" busy={busy}>
        Create source
      </Button>
    </form>
  );
}

function CodeForm({ error, busy, onSubmit }: FormProps) {
  const [code, setCode] = useState(TEMPLATES[0]?.code ?? '');
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    onSubmit({ component_code: code });
  };
  return (
    <form onSubmit={submit} className="flex flex-col items-start gap-3">
      <div className="w-full">
        <CodeView value={code} label="Code" language="typescript" onChange={setCode} problems={codeProblems(error)} />
      </div>
      <Button type="submit" kind="primary" busy={busy}>
        Create source
      </Button>
    </form>
  );
}
