import { useNavigate, useSearch } from '@tanstack/react-router';
import { useNames } from '../../../api/names.ts';
import { messagesFor } from '../../../api/problem.ts';
import { Button } from '../../../ui/button.tsx';
import { CopyMenu } from '../../../ui/copy.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Page } from '../../../ui/page.tsx';
import { BuilderView } from './builder-view.tsx';
import { stepInput, triggerInput } from './draft.ts';
import { useBuilder } from './use-builder.ts';

/** A workflow that is not there yet: it is built and tried out before anything is saved. */
export function NewWorkflow() {
  const search = useSearch({ from: '/shell/workflows/new' });
  const navigate = useNavigate({ from: '/workflows/new' });
  const newName = freeName(new Set(useNames('workflows').values()));
  const open = ({ id }: { id: string }) =>
    void navigate({ to: '/workflows/$id', params: { id }, search: { tab: 'build' } });
  const builder = useBuilder(undefined, open, newName);
  const { draft, set, deploying } = builder;
  const name = draft.name ?? newName;
  const body = { name, triggers: draft.triggers.map(triggerInput), steps: draft.steps.map(stepInput) };
  return (
    <Page
      title="New workflow"
      actions={
        <>
          {builder.isChanged && <Button onClick={builder.discard}>Discard</Button>}
          <CopyMenu
            command={{ method: 'POST', path: '/v1/workflows', body, hw: 'hw workflows create workflow.json' }}
          />
          <Button kind="primary" busy={deploying.isPending} onClick={() => deploying.mutate()}>
            Deploy
          </Button>
        </>
      }
    >
      <div className="max-w-sm">
        <TextField
          label="Name"
          autoFocus
          value={name}
          // Typing replaces a name that nobody has chosen.
          onFocus={({ target }) => draft.name === undefined && target.select()}
          onChange={({ target }) => set({ ...draft, name: target.value })}
          errors={messagesFor(deploying.error, 'name')}
        />
      </div>
      <BuilderView
        builder={builder}
        search={search}
        onSearch={(next) => void navigate({ search: next, replace: true })}
      />
    </Page>
  );
}

function freeName(taken: ReadonlySet<string>): string {
  for (let count = 1; ; count++) {
    const name = count === 1 ? 'My workflow' : `My workflow ${count}`;
    if (!taken.has(name)) return name;
  }
}
