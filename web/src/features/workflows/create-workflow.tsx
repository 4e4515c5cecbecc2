import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type SubmitEvent, useState } from 'react';
import { api, ask } from '../../api/client.ts';
import { messagesFor } from '../../api/problem.ts';
import { Button } from '../../ui/button.tsx';
import { CodeView } from '../../ui/code-view.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { ProblemNote } from '../../ui/problem.tsx';

const FIRST_STEP = `export default {
  name: "Log the event",
  version: "1.0.0",
  type: "action",
  async run({ steps, $ }) {
    console.log(steps.trigger.event);
    $.export("$summary", "It arrived");
    return steps.trigger.event;
  },
};
`;

/** A workflow that listens at a URL and has one step; further steps are added on its page. */
export function CreateWorkflow({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [code, setCode] = useState(FIRST_STEP);
  const navigate = useNavigate();
  const queries = useQueryClient();
  const creating = useMutation({
    mutationFn: () =>
      ask(
        api.POST('/v1/workflows', {
          body: { name, triggers: [{ type: 'http' }], steps: [{ namespace: 'first', component_code: code }] },
        }),
      ),
    onSuccess: async ({ data }) => {
      await queries.invalidateQueries({ queryKey: ['workflows'] });
      await navigate({ to: '/workflows/$id', params: { id: data.id } });
    },
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    creating.mutate();
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title="New workflow"
      wide
      description="It starts at a request to a URL of its own, and runs this step."
    >
      <form onSubmit={submit} noValidate className="flex flex-col gap-4">
        <TextField
          label="Name"
          required
          autoFocus
          value={name}
          onChange={({ target }) => setName(target.value)}
          errors={messagesFor(creating.error, 'name')}
        />
        <CodeView value={code} label="Code of the first step" language="typescript" onChange={setCode} />
        <ProblemNote error={creating.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={creating.isPending}>
            Deploy
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
