import { type CommandSpec, NAMING_EXITS } from '../command.ts';
import { momentOf } from '../moment-option.ts';
import { findNamed } from '../names/find-named.ts';
import { ofSeconds } from '../terminal/describe-time.ts';

interface WebhookStats {
  delivered: number;
  failed_attempts: number;
  exhausted: number;
  success_share: number | null;
  latency_ms: { p50: number | null; p95: number | null };
  status_classes: Record<string, number>;
  sampled_deliveries: number;
  backlog: number;
  current_rate_per_second: number | null;
  oldest_due_at: number | null;
}

export const webhookStats: CommandSpec = {
  path: 'webhooks stats',
  summary: 'How a webhook does: success, latency, backlog',
  arguments: [{ name: 'name', summary: 'A webhook, by id or name.', completes: { names: ['webhooks'] } }],
  options: [{ name: 'since', value: 'time', summary: 'Such as `2026-11-20T14:00Z`. Default: a day ago.' }],
  examples: [{ does: 'Of the last day', command: 'hw webhooks stats shop' }],
  json: 'the numbers, as `GET /v1/webhooks/{id}/stats` answers them',
  exits: NAMING_EXITS,
  async run({ api: connect, input, output }) {
    const since = momentOf(input, 'since');
    const api = await connect();
    const { id } = await findNamed(api, ['webhook'], input.argument('name'));
    const query = since === undefined ? {} : { since };
    const found = await api.get<WebhookStats>(`/webhooks/${id}/stats`, query);
    const classes = Object.entries(found.status_classes).filter(([, count]) => count > 0);
    const ms = (value: number | null) => (value === null ? undefined : `${Math.round(value)} ms`);
    const { current_rate_per_second: rate } = found;
    const text = output.fields([
      ['success', found.success_share === null ? undefined : `${(found.success_share * 100).toFixed(1)} %`],
      ['delivered', `${found.delivered}`],
      ['failed attempts', `${found.failed_attempts}`],
      ['exhausted', `${found.exhausted}`],
      ['p50', ms(found.latency_ms.p50)],
      ['p95', ms(found.latency_ms.p95)],
      ['answers', classes.map(([name, count]) => `${name.replace('http_', '')} ${count}`).join(', ') || undefined],
      ['waiting', `${found.backlog}`],
      ['rate now', rate === null ? undefined : `${Number(rate.toFixed(1))} a second`],
      ['oldest due', found.oldest_due_at === null ? undefined : ofSeconds(found.oldest_due_at)],
    ]);
    return { json: found, text };
  },
};
