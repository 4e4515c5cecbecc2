import { readFileSync } from 'node:fs';
import type { NodeProcess } from './node-process.ts';
import { lateCalls } from './judge.ts';
import { isKept } from './judge-asked.ts';
import type { Promised } from './promised.ts';
import type { Answer, Outcome, Target } from './records.ts';

/** Measurements beside the promises: shown for a reader, not judged. */
export type Figures = [name: string, value: string][];

const SAMPLE_EVERY_MS = 5_000;

/** The most memory that each node's process had, looked at every few seconds. Linux only. */
export function watchMemory(nodes: readonly NodeProcess[]): { stop(): number } {
  let mostKb = 0;
  const timer = setInterval(() => {
    for (const node of nodes) mostKb = Math.max(mostKb, residentKb(node.pid()));
  }, SAMPLE_EVERY_MS);
  return {
    stop() {
      clearInterval(timer);
      return mostKb * 1024;
    },
  };
}

function residentKb(pid: number | undefined): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    // It has ended, or this is not Linux.
    return 0;
  }
}

const SHOWN: readonly [Answer, string][] = [
  ['accepted', 'accepted (200, 201, 202)'],
  ['refused', 'refused (503, 429)'],
  ['unreachable', 'unreachable'],
  ['reset', 'reset'],
  ['silent', 'no answer in 30 s'],
];

export function figuresOfAnswers({ requests }: Outcome): Figures {
  const of = (answer: Answer) => requests.filter((sent) => sent.answer === answer);
  const asked = of('accepted').filter(({ to }) => to === 'asked');
  const kept = asked.filter(isKept).length;
  const accepted = of('accepted').flatMap(({ to, tookMs }) => (to === 'asked' ? [] : [tookMs]));
  const sentTo = Map.groupBy(requests, ({ to }) => to);
  const shown = (...targets: Target[]) => targets.map((to) => `${to} ${sentTo.get(to)?.length ?? 0}`).join(', ');
  return [
    ['requests sent to sources', shown('source', 'notes', 'greatest', 'last', 'asked')],
    ['requests sent to workflows', shown('workflow', 'waits')],
    ...SHOWN.map(([answer, name]): [string, string] => {
      const quiet = of(answer).filter(({ wasDisturbed }) => !wasDisturbed).length;
      const atLiving = answer === 'accepted' || answer === 'refused' ? '' : `, of nodes that lived: ${quiet}`;
      return [name, `${of(answer).length}${atLiving}`];
    }),
    ['answers of the source that gives them; 202 instead', `${asked.length - kept}; ${kept}`],
    ['time to a 200: p50, p99, max', [0.5, 0.99, 1].map((part) => `${quantile(accepted, part)} ms`).join(', ')],
  ];
}

export function figuresOfWork({ tenants, executions, calls }: Outcome, stops: number): Figures {
  const events = tenants.flatMap(({ sourceEvents, notes, numbers, asked }) => [
    sourceEvents.length,
    notes.length,
    numbers.greatest.length,
    numbers.last.length,
    asked.length,
  ]);
  const messages = tenants.flatMap(({ hooks }) => [...hooks.values()].flatMap((ofHook) => [...ofHook.values()]));
  const again = messages.reduce((sum, { taken }) => sum + Math.max(0, taken - 1), 0);
  const replays = tenants.flatMap((tenant) => tenant.replays);
  const replayed = replays.reduce((sum, { sent }) => sum + sent, 0);
  return [
    ['events emitted by sources', String(events.reduce((sum, count) => sum + count, 0))],
    ['messages delivered; taken again', `${messages.length}; ${again}`],
    ['stops of a webhook; replays, events of these', `${stops}; ${replays.length}, ${replayed}`],
    ['executions', String(executions.length)],
    ['calls of steps that a frozen node sent late', String(lateCalls(calls).length)],
  ];
}

export function figuresOfNodes(nodes: readonly NodeProcess[], seconds: number, memoryBytes: number): Figures {
  const all = nodes.map((node) => node.figures());
  const most = (of: (figures: (typeof all)[number]) => number) => Math.max(...all.map(of));
  return [
    [
      'starts of nodes; the slowest',
      `${all.reduce((sum, { starts }) => sum + starts, 0)}; ${seconds1(most((f) => f.slowestStartMs))}`,
    ],
    ['log of the node that wrote most', `${(most((f) => f.logBytes) / 1024 / seconds).toFixed(1)} KB/s`],
    ['most memory of a node', `${Math.round(memoryBytes / 2 ** 20)} MB`],
  ];
}

export function promisesOfNodes(nodes: readonly NodeProcess[], ill: readonly string[]): Promised[] {
  return [
    { name: 'nodes that ended by themselves', broken: nodes.flatMap((node) => node.figures().endedByItself) },
    { name: 'graceful stops that failed', broken: nodes.flatMap((node) => node.figures().badStops) },
    { name: 'nodes not healthy after the faults', broken: [...ill] },
    { name: 'processes that outlived their node', broken: nodes.flatMap((node) => node.leftOver()) },
  ];
}

const seconds1 = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;

function quantile(list: readonly number[], part: number): number {
  const sorted = list.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}
