import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, type SubmitEvent, useEffect, useState } from 'react';
import { api, type Schemas } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { CodeView } from '../../ui/code-view.tsx';
import { type Command, hwLine } from '../../ui/command.ts';
import { CopyMenu } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { isShown, type PropDefinition } from '../props/prop-definition.ts';
import { PropForm, useProps } from '../props/prop-form.tsx';
import { codeProblems } from './code-problems.ts';
import { lookUpComponent } from './look-up-component.ts';
import { RegistrySearch } from './registry-search.tsx';
import { TEMPLATES } from './templates.ts';

type Origin = 'code' | 'url' | 'key' | 'api';
type Component = Schemas['Component'];
type Source = Schemas['Source'];

/** The name is asked for in both steps, and kept between them. */
interface Naming {
  name: string;
  nameField: ReactNode;
}

interface CreateSourceProps {
  onClose: () => void;
  onCreated: (source: Source) => void;
  /** A key of the registry, or a URL: its form is shown at once. */
  given?: { key?: string | undefined; url?: string | undefined };
}

/** First the code, from any origin, then its configuration. */
export function CreateSource({ onClose, onCreated, given }: CreateSourceProps) {
  const [component, setComponent] = useState<Component>();
  const [name, setName] = useState('');
  const nameField = (
    <TextField
      label="Name"
      optional
      value={name}
      onChange={({ target }) => setName(target.value)}
      placeholder={component?.name ?? 'the name of the component'}
    />
  );
  const title = component === undefined ? 'New source' : `Configure ${component.name}`;
  const description =
    component === undefined
      ? 'Its code: written here, at a URL, from the registry, or none.'
      : (component.description ?? undefined);
  return (
    <Dialog open onClose={onClose} title={title} wide {...(description === undefined ? {} : { description })}>
      {component === undefined ? (
        <ChooseCode
          onClose={onClose}
          onForm={setComponent}
          onCreated={onCreated}
          given={given}
          name={name}
          nameField={nameField}
        />
      ) : (
        <Configure
          component={component}
          onBack={() => setComponent(undefined)}
          onCreated={onCreated}
          name={name}
          nameField={nameField}
        />
      )}
    </Dialog>
  );
}

interface Ways {
  given: CreateSourceProps['given'];
  onForm: (component: Component) => void;
}

/** Creates the source at once where there is nothing to configure. */
function ChooseCode({
  onClose,
  onForm,
  onCreated,
  given: { key = '', url = '' } = {},
  name,
  nameField,
}: Naming & Omit<CreateSourceProps, 'given'> & Ways) {
  const [origin, setOrigin] = useState<Origin>(url === '' ? (key === '' ? 'code' : 'key') : 'url');
  const [code, setCode] = useState(TEMPLATES[0]?.code ?? '');
  const [address, setAddress] = useState(url);
  const [registryKey, setRegistryKey] = useState(key);
  const create = useCreateSource(onCreated);
  const choosing = useMutation({
    mutationFn: async () => {
      if (origin === 'api') return create({ kind: 'ingest', ...(name === '' ? {} : { name }) });
      const component = await componentOf({ origin, code, address, registryKey });
      const definitions = component.configurable_props as unknown as PropDefinition[];
      if (definitions.some(isShown)) onForm(component);
      else await create({ component_id: component.id, ...(name === '' ? {} : { name }) });
    },
  });
  const { mutate } = choosing;
  const isGiven = key !== '' || url !== '';
  // A link that names the code leads straight to its form.
  useEffect(() => {
    if (isGiven) mutate();
  }, [isGiven, mutate]);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    mutate();
  };
  const readFeed = () => {
    setOrigin('key');
    setRegistryKey(FEED_KEY);
  };
  return (
    <form onSubmit={submit} noValidate className="flex flex-col gap-4">
      <Tabs
        label="Where its code is"
        value={origin}
        onChange={(value) => setOrigin(value as Origin)}
        tabs={[
          {
            value: 'code',
            label: 'Code',
            panel: (
              <CodePart code={code} onChange={setCode} onFeed={readFeed} problems={codeProblems(choosing.error)} />
            ),
          },
          {
            value: 'url',
            label: 'URL',
            panel: (
              <TextField
                label="URL of the code"
                type="url"
                value={address}
                onChange={({ target }) => setAddress(target.value)}
                placeholder="https://…/source.mjs"
                description="Fetched once, now."
              />
            ),
          },
          { value: 'key', label: 'Registry', panel: <RegistrySearch value={registryKey} onChange={setRegistryKey} /> },
          {
            value: 'api',
            label: 'No code',
            panel: (
              <p className="text-sm text-ink-soft">
                Its events come from the API: <code className="font-mono">POST /v1/sources/&#123;id&#125;/events</code>.
              </p>
            ),
          },
        ]}
      />
      {nameField}
      <ProblemNote error={choosing.error} />
      <div className="flex justify-end gap-2">
        <CopyMenu command={commandOf({ origin, code, address, registryKey }, name)} />
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" kind="primary" busy={choosing.isPending}>
          Create source
        </Button>
      </div>
    </form>
  );
}

const FEED_KEY = 'rss-new-items';

interface ChosenCode {
  origin: Origin;
  code: string;
  address: string;
  registryKey: string;
}

/** Code that is written here is no file yet, which `hw deploy` would take. */
function commandOf({ origin, code, address, registryKey: key }: ChosenCode, name: string): Command {
  const given = {
    api: { kind: 'ingest' },
    code: { component_code: code },
    key: { component_key: key },
    url: { component_url: address },
  }[origin];
  const words = { api: ['--ingest', name || '<name>'], code: undefined, key: [key], url: [address] }[origin];
  return {
    method: 'POST',
    path: '/v1/sources',
    body: { ...given, name: name || undefined },
    ...(words === undefined ? {} : { hw: hwLine(['deploy', ...words], { name: origin === 'api' ? '' : name }) }),
  };
}

async function componentOf({ origin, code, address, registryKey }: ChosenCode): Promise<Component> {
  if (origin === 'key') return lookUpComponent(registryKey);
  const body = origin === 'url' ? { component_url: address } : { component_code: code };
  return (await api.post('/v1/components', { body })).data;
}

type NewSource = (
  | { kind: 'ingest' }
  | { component_id: string; configured_props?: Record<string, unknown>; dynamic_props_id?: string }
) & { name?: string };

function useCreateSource(onCreated: (source: Source) => void): (body: NewSource) => Promise<void> {
  const queries = useQueryClient();
  return async (body) => {
    const { data } = await api.post('/v1/sources', { body });
    await queries.invalidateQueries({ queryKey: ['sources'] });
    onCreated(data);
  };
}

function CodePart(props: {
  code: string;
  onChange: (code: string) => void;
  /** The template that is a component of the registry. */
  onFeed: () => void;
  problems: ReturnType<typeof codeProblems>;
}) {
  const { code, onChange, onFeed, problems } = props;
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap gap-2" role="group" aria-label="Templates">
        {TEMPLATES.map((template) => (
          <Button key={template.name} size="small" onClick={() => onChange(template.code)}>
            {template.name}
          </Button>
        ))}
        <Button size="small" onClick={onFeed}>
          RSS feed
        </Button>
      </div>
      <CodeView value={code} label="Code" language="typescript" onChange={onChange} problems={problems} />
    </div>
  );
}

function propWords(values: object): string[] {
  return Object.entries(values).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
}

function Configure(
  props: Naming & Pick<CreateSourceProps, 'onCreated'> & { component: Component; onBack: () => void },
) {
  const { component, onBack, onCreated, name, nameField } = props;
  const definitions = component.configurable_props as unknown as PropDefinition[];
  const [state, setState] = useProps(definitions, {});
  const create = useCreateSource(onCreated);
  const creating = useMutation({
    mutationFn: () => {
      const { values, dynamicPropsId } = state;
      return create({
        component_id: component.id,
        configured_props: { ...values },
        ...(dynamicPropsId === undefined ? {} : { dynamic_props_id: dynamicPropsId }),
        ...(name === '' ? {} : { name }),
      });
    },
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    creating.mutate();
  };
  return (
    <form onSubmit={submit} noValidate className="flex flex-col gap-4">
      {nameField}
      {state.definitions.some(isShown) && (
        <PropForm componentId={component.id} state={state} onChange={setState} error={creating.error} />
      )}
      <ProblemNote error={creating.error} />
      <div className="flex justify-end gap-2">
        <CopyMenu
          command={{
            method: 'POST',
            path: '/v1/sources',
            body: { component_id: component.id, configured_props: state.values, name: name || undefined },
            hw: hwLine(['deploy', component.id], { prop: propWords(state.values), name, new: true }),
          }}
        />
        <Button onClick={onBack}>Back</Button>
        <Button type="submit" kind="primary" busy={creating.isPending}>
          Create source
        </Button>
      </div>
    </form>
  );
}
