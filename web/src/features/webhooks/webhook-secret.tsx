import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { messagesFor } from '../../api/problem.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Field, INPUT_CLASS, TextField } from '../../ui/field.tsx';
import { Panel } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { Time } from '../../ui/time.tsx';
import type { WholeWebhook } from './webhook-queries.ts';

const DEFAULT_OVERLAP_HOURS = '24';

/**
 * The secret that receivers verify deliveries with: shown on demand, and replaced with an overlap.
 */
export function WebhookSecret({ webhook }: { webhook: WholeWebhook }) {
  const { id, secret, public_key: publicKey, previous_until: previousUntil } = webhook;
  const [isShown, setShown] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const [overlap, setOverlap] = useState(DEFAULT_OVERLAP_HOURS);
  const [signature, setSignature] = useState(webhook.signature);
  const queries = useQueryClient();
  const rotating = useMutation({
    mutationFn: () =>
      api.post('/v1/webhooks/{id}/rotate_secret', {
        path: { id },
        body: { overlap_hours: Number(overlap), signature },
      }),
    onSuccess: async () => {
      setAsking(false);
      setShown(true);
      await queries.invalidateQueries({ queryKey: ['webhook', id] });
    },
  });
  return (
    <Panel title={publicKey === null ? 'Signing secret' : 'Public key of signatures'}>
      <div className="flex flex-wrap items-center gap-2 p-4 text-sm">
        <code className="min-w-0 flex-1 truncate font-mono text-xs">
          {publicKey ?? (isShown ? (secret ?? 'not for this API key') : '•'.repeat(24))}
        </code>
        {publicKey === null ? (
          <Button size="small" needs="change" aria-pressed={isShown} onClick={() => setShown(!isShown)}>
            {isShown ? 'Hide' : 'Reveal'}
          </Button>
        ) : (
          <CopyButton text={publicKey} what="public key" />
        )}
        {secret !== null && <CopyButton text={secret} what="secret" />}
        <Button size="small" needs="change" onClick={() => setAsking(true)}>
          Rotate secret
        </Button>
        {previousUntil !== null && (
          <p className="basis-full text-xs text-ink-soft">
            The secret before it signs as well. That ends <Time atMs={previousUntil * 1_000} />
          </p>
        )}
      </div>
      <Confirm
        open={isAsking}
        onClose={() => setAsking(false)}
        title="Replace the signing secret?"
        action="Rotate"
        busy={rotating.isPending}
        onConfirm={() => rotating.mutate()}
      >
        <div className="flex flex-col gap-4 text-ink">
          <p className="text-ink-soft">
            A new secret is made. For the overlap each request carries a signature of both, so that the receiver can be
            changed in between.
          </p>
          <Field label="Signature" description="Receivers verify v1 with the secret, and v1a with a public key.">
            {(ids) => (
              <select
                {...ids}
                className={INPUT_CLASS}
                value={signature}
                onChange={({ target }) => setSignature(target.value as WholeWebhook['signature'])}
              >
                <option value="v1">v1: HMAC-SHA256</option>
                <option value="v1a">v1a: Ed25519</option>
              </select>
            )}
          </Field>
          <TextField
            label="Overlap in hours"
            type="number"
            min={0}
            max={168}
            value={overlap}
            onChange={({ target }) => setOverlap(target.value)}
            errors={messagesFor(rotating.error, 'overlap_hours')}
          />
          <ProblemNote error={rotating.error} />
        </div>
      </Confirm>
    </Panel>
  );
}
