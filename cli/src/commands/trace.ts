import { type CommandSpec, NAMING_EXITS } from '../command.ts';
import { renderTree } from '../terminal/tree.ts';
import { traceTree } from '../traces/trace-tree.ts';
import type { Trace } from '../traces/trace.ts';

export const trace: CommandSpec = {
  path: 'trace',
  summary: 'Everything that followed from one request, tick or run by hand',
  details:
    'A tree: each run with its steps and what it emitted and sent, how long each waited and ran, who got an event and why others did not.',
  arguments: [
    {
      name: 'id',
      summary:
        'A run or execution (`inv_…`, `exec_…`, the header `x-headwater-run`), the `trace_id` of an event, or its `emit_id`.',
    },
  ],
  options: [{ name: 'logs', summary: 'Log lines of runs and steps, and what steps got, as well.' }],
  examples: [
    { does: 'What came of an execution', command: 'hw trace exec_1vZ8kQ0aB3xYpL9mWc2T' },
    {
      does: 'What came of an event, with log lines',
      command: 'hw trace dc_1vZ8kQ0aB3xYpL9mWc2T-1606511826306-0 --logs',
    },
  ],
  json: 'the trace, as `GET /v1/traces/{id}` answers it',
  exits: NAMING_EXITS,
  async run({ api: connect, input, output }) {
    const api = await connect();
    const found = await api.get<Trace>(`/traces/${encodeURIComponent(input.argument('id'))}`);
    if (found.truncated) output.warn('The trace is longer than what is shown');
    const view = { style: output.style, showLogs: input.flag('logs') };
    return { json: found, text: renderTree(traceTree(found, view), output.style) };
  },
};
