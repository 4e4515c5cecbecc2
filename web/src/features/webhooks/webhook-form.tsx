import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query';
import { type ComponentType, type ReactNode, type SubmitEvent, useEffect, useState } from 'react';
import { api, forState } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { Conflict, isConflict } from '../../ui/conflict.tsx';
import { Panel } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import type { WholeWebhook } from './webhook-queries.ts';

export interface WebhookFormProps {
  /** The state that the form was begun on. */
  webhook: WholeWebhook;
  /** The state that there is now, as far as this page knows. */
  newest: WholeWebhook;
  onSaved: (webhook: WholeWebhook) => void;
}

/**
 * A form of the webhook's settings. Unsaved edits stay when another user changes the webhook; the
 * save then shows both versions.
 */
export function Edited({ webhook, form: Form }: { webhook: WholeWebhook; form: ComponentType<WebhookFormProps> }) {
  const [base, setBase] = useState(webhook);
  return <Form key={base.etag} webhook={base} newest={webhook} onSaved={setBase} />;
}

type Saving = UseMutationResult<WholeWebhook, Error, WholeWebhook | undefined>;

interface Part extends WebhookFormProps {
  /** The fields of a webhook that the form changes. */
  partOf: (webhook: WholeWebhook) => object;
  /** The same fields in the form; without secrets, which cannot be compared. */
  mine: object;
  body: () => object;
}

const read = (id: string) => api.tagged('get', '/v1/webhooks/{id}', { path: { id } });

/** Refused if another user changed the same part; changes of other parts do not matter. */
export function useWebhookSaving({ webhook, onSaved, partOf, body }: Omit<Part, 'mine' | 'newest'>): Saving {
  const queries = useQueryClient();
  const put = (over: WholeWebhook) =>
    api.tagged('put', '/v1/webhooks/{id}', { path: { id: webhook.id }, headers: forState(over), body: body() });
  return useMutation({
    mutationFn: async (over: WholeWebhook | undefined) => {
      if (over !== undefined) return put(over);
      try {
        return await put(webhook);
      } catch (error) {
        if (!isConflict(error)) throw error;
        const now = await read(webhook.id);
        if (JSON.stringify(partOf(now)) !== JSON.stringify(partOf(webhook))) throw error;
        return put(now);
      }
    },
    onSuccess: async (now) => {
      queries.setQueryData(['webhook', webhook.id], now);
      onSaved(now);
      await queries.invalidateQueries({ queryKey: ['webhooks'] });
    },
  });
}

interface WebhookFormViewProps extends Part {
  title: string;
  /** The word on the button. */
  action: string;
  saving: Saving;
  children: ReactNode;
}

export function WebhookForm(props: WebhookFormViewProps) {
  const { webhook, newest, onSaved, partOf, mine, title, action, saving, children } = props;
  const queries = useQueryClient();
  const isUntouched = JSON.stringify(mine) === JSON.stringify(partOf(webhook));
  useEffect(() => {
    if (isUntouched && newest.etag !== webhook.etag) onSaved(newest);
  }, [isUntouched, newest, webhook, onSaved]);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    saving.mutate(undefined);
  };
  const isRefused = isConflict(saving.error);
  return (
    <Panel title={title}>
      <form onSubmit={submit} className="flex max-w-2xl flex-col gap-4 p-4">
        {children}
        <ProblemNote error={isRefused ? null : saving.error} />
        <Button type="submit" kind="primary" className="self-start" busy={saving.isPending}>
          {action}
        </Button>
      </form>
      {isRefused && (
        <Conflict<WholeWebhook>
          mine={JSON.stringify(mine, null, 2)}
          textOf={(theirs) => JSON.stringify(partOf(theirs), null, 2)}
          language="json"
          read={() => read(webhook.id)}
          busy={saving.isPending}
          onClose={() => saving.reset()}
          onTakeTheirs={(theirs) => {
            queries.setQueryData(['webhook', webhook.id], theirs);
            onSaved(theirs);
          }}
          onKeepMine={(theirs) => saving.mutate(theirs)}
        />
      )}
    </Panel>
  );
}
