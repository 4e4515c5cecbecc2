import { Sparkline } from '../../ui/sparkline.tsx';
import { useSparklines } from './stat-queries.ts';

/** Activity in the last hour, for a row of a list. All rows share one request. */
export function ActivityOf({ kind, id, name }: { kind: 'emitters' | 'webhooks'; id: string; name: string }) {
  const { activity = [], failures = [] } = useSparklines(kind).get(id) ?? {};
  return <Sparkline activity={activity} failures={failures} label={`Activity of ${name} in the last hour`} />;
}
