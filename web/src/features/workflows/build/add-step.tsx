import { useMutation, useQuery } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import { api, type Schemas } from '../../../api/client.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/field.tsx';
import { ProblemNote } from '../../../ui/problem.tsx';
import { SkeletonRows } from '../../../ui/skeleton.tsx';
import { Tabs } from '../../../ui/tabs.tsx';
import { lookUpComponent } from '../../sources/look-up-component.ts';
import { type DraftStep, stepOfCode, stepOfComponent } from './draft.ts';

type Component = Schemas['Component'];

const FIRST_CODE = `export default {
  name: "Step",
  version: "1.0.0",
  type: "action",
  props: {},
  async run({ steps, $ }) {
    console.log(steps.trigger.event);
    return steps.trigger.event;
  },
};
`;

interface AddStepProps {
  taken: readonly string[];
  onAdd: (step: DraftStep) => void;
  onClose: () => void;
}

/** A step of an action of the registry, of code, or of code at a URL. */
export function AddStep({ taken, onAdd, onClose }: AddStepProps) {
  const [origin, setOrigin] = useState('registry');
  const add = (component: Component) => onAdd(stepOfComponent(component, taken));
  const addCode = () => onAdd(stepOfCode(FIRST_CODE, taken));
  return (
    <Dialog open onClose={onClose} wide title="Add step" description="An action that runs on each event.">
      <Tabs
        label="Where its code is"
        value={origin}
        onChange={setOrigin}
        tabs={[
          { value: 'registry', label: 'Registry', panel: <ActionSearch onAdd={add} /> },
          {
            value: 'code',
            label: 'Code',
            panel: (
              <div className="flex flex-col items-start gap-3 text-sm text-ink-soft">
                <p>
                  JavaScript or TypeScript of your own, with packages of npm. It sees the event and what steps before it
                  came to.
                </p>
                <Button kind="primary" onClick={addCode}>
                  Add code step
                </Button>
              </div>
            ),
          },
          { value: 'url', label: 'URL', panel: <FromUrl onAdd={add} /> },
        ]}
      />
    </Dialog>
  );
}

function ActionSearch({ onAdd }: { onAdd: (component: Component) => void }) {
  const [text, setText] = useState('');
  const q = useDeferredValue(text.trim());
  const found = useQuery({
    queryKey: ['registry', 'action', q],
    queryFn: ({ signal }) => {
      const query = { type: 'action' as const, limit: 30, ...(q === '' ? {} : { q }) };
      return api.get('/v1/components/registry', { query, signal });
    },
  });
  const own = useQuery({
    queryKey: ['components', 'action', q],
    queryFn: ({ signal }) => {
      const query = { type: 'action' as const, published: true, limit: 30, ...(q === '' ? {} : { q }) };
      return api.get('/v1/components', { query, signal });
    },
  });
  const adding = useMutation({ mutationFn: lookUpComponent, onSuccess: onAdd });
  const shown = [...(own.data?.data ?? []), ...(found.data?.data ?? [])].filter(
    ({ id }, at, all) => all.findIndex((one) => one.id === id) === at,
  );
  return (
    <div className="flex flex-col gap-2">
      <TextField
        label="Search actions"
        type="search"
        autoFocus
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <ProblemNote error={found.error ?? own.error ?? adding.error} />
      {found.isPending && <SkeletonRows rows={4} />}
      <ul aria-label="Actions" className="max-h-80 divide-y divide-line overflow-y-auto rounded-md border border-line">
        {shown.map(({ id, key, name, version, description }) => (
          <li key={id}>
            <button
              type="button"
              disabled={adding.isPending}
              onClick={() => adding.mutate(key ?? id)}
              className="w-full px-3 py-2 text-left text-sm -outline-offset-2 hover:bg-sunken"
            >
              <span className="font-medium">{name}</span>{' '}
              <span className="font-mono text-xs text-ink-faint">
                {key ?? id}@{version}
              </span>
              {description !== null && <span className="block truncate text-xs text-ink-soft">{description}</span>}
            </button>
          </li>
        ))}
        {found.isSuccess && shown.length === 0 && (
          <li className="px-3 py-2 text-sm text-ink-soft">No action matches. Write it as code, or publish it first.</li>
        )}
      </ul>
    </div>
  );
}

function FromUrl({ onAdd }: { onAdd: (component: Component) => void }) {
  const [url, setUrl] = useState('');
  const adding = useMutation({
    mutationFn: async () => (await api.post('/v1/components', { body: { component_url: url } })).data,
    onSuccess: onAdd,
  });
  return (
    <div className="flex flex-col gap-3">
      <TextField
        label="URL of the code"
        type="url"
        value={url}
        placeholder="https://…/action.mjs"
        description="Fetched once, now."
        onChange={({ target }) => setUrl(target.value)}
      />
      <ProblemNote error={adding.error} />
      <Button kind="primary" className="self-start" busy={adding.isPending} onClick={() => adding.mutate()}>
        Add step
      </Button>
    </div>
  );
}
