import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type SubmitEvent, useState } from 'react';
import { api, ask } from '../../api/client.ts';
import { ApiError } from '../../api/problem.ts';
import { Button } from '../../ui/button.tsx';
import { CodeView } from '../../ui/code-view.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { TEMPLATES } from './templates.ts';

type Origin = 'code' | 'url' | 'key';

/** Deploys a source of code that is typed in, of code at a URL, or of a component of the registry. */
export function CreateSource({ onClose }: { onClose: () => void }) {
  const { key = '', url = '' } = useSearch({ from: '/shell/sources' });
  const [origin, setOrigin] = useState<Origin>(url !== '' ? 'url' : key !== '' ? 'key' : 'code');
  const [code, setCode] = useState(TEMPLATES[0]?.code ?? '');
  const [address, setAddress] = useState(url);
  const [registryKey, setRegistryKey] = useState(key);
  const [name, setName] = useState('');
  const navigate = useNavigate();
  const queries = useQueryClient();
  const creating = useMutation({
    mutationFn: async () => {
      const component = {
        code: { component_code: code },
        url: { component_url: address },
        key: { component_key: registryKey },
      };
      const body = { ...component[origin], ...(name === '' ? {} : { name }) };
      return (await ask(api.POST('/v1/sources', { body }))).data;
    },
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries({ queryKey: ['sources'] });
      await navigate({ to: '/sources/$id', params: { id } });
    },
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    creating.mutate();
  };
  const problems = creating.error instanceof ApiError ? (creating.error.problem.errors ?? []) : [];
  const located = problems.flatMap(({ line, column, message }) =>
    line === undefined ? [] : [{ line, message, ...(column === undefined ? {} : { column }) }],
  );
  return (
    <Dialog
      open
      onClose={onClose}
      title="New source"
      wide
      description="It is deployed at once, with an id and, where it listens, a URL of its own."
    >
      <form onSubmit={submit} className="flex flex-col gap-4">
        <Tabs
          label="Where its code is"
          value={origin}
          onChange={(value) => setOrigin(value as Origin)}
          tabs={[
            { value: 'code', label: 'Code', panel: <CodePart code={code} onChange={setCode} problems={located} /> },
            {
              value: 'url',
              label: 'URL',
              panel: (
                <TextField
                  label="URL of the code"
                  type="url"
                  value={address}
                  onChange={(event) => setAddress(event.target.value)}
                  placeholder="https://…/source.mjs"
                  description="Fetched once, now. It must be a public address."
                />
              ),
            },
            {
              value: 'key',
              label: 'Registry',
              panel: (
                <TextField
                  label="Registry key"
                  value={registryKey}
                  onChange={(event) => setRegistryKey(event.target.value)}
                  placeholder="schedule-timer"
                  className="font-mono"
                />
              ),
            },
          ]}
        />
        <TextField
          label="Name"
          optional
          value={name}
          onChange={(event) => setName(event.target.value)}
          description="Default: the name of the component."
        />
        <ProblemNote error={creating.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={creating.isPending}>
            Create source
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function CodePart(props: {
  code: string;
  onChange: (code: string) => void;
  problems: { line: number; column?: number; message: string }[];
}) {
  const { code, onChange, problems } = props;
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap gap-2" role="group" aria-label="Templates">
        {TEMPLATES.map((template) => (
          <Button key={template.name} size="small" onClick={() => onChange(template.code)}>
            {template.name}
          </Button>
        ))}
      </div>
      <CodeView value={code} label="Code" language="typescript" onChange={onChange} problems={problems} />
    </div>
  );
}
