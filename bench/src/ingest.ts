import type { BenchArguments } from './arguments.ts';
import { SILENT_SOURCE } from './event-source.ts';
import { runLoad } from './load/load-phase.ts';
import { createRequestTemplate } from './load/request-bytes.ts';
import { describeMachine } from './machine.ts';
import { eventId, ID_CHARS } from './receiver/messages.ts';
import { createApiClient } from './system/api-client.ts';
import { bootSystem } from './system/boot-system.ts';
import { cpuTimes } from './system/cpu-times.ts';
import { formatCount, formatCpu, formatLatency, formatMachine, line } from './text.ts';
import type { Undo } from './undo.ts';

const MAX_WARM_UP_REQUESTS = 5_000;

/**
 * Accepted requests a second: each is stored before its answer. The source runs but emits nothing.
 */
export async function benchIngest(undo: Undo, options: BenchArguments): Promise<boolean> {
  const system = await bootSystem(undo);
  const source = await createApiClient(system).deploySource(SILENT_SOURCE);
  const template = createRequestTemplate(source.endpointUrl, options.bodyBytes, ID_CHARS);
  const load = (requests: number) =>
    runLoad({
      target: template.target,
      connections: options.connections,
      requests,
      maxMs: options.maxPhaseMs,
      request: (index) => template.request(eventId('i', index)),
    });
  await load(Math.min(options.events, MAX_WARM_UP_REQUESTS));
  const before = system.processes();
  const { sent, statuses, elapsedMs, answers } = await load(options.events);
  const cpu = cpuTimes(before, system.processes());
  const requestsPerSecond = (sent / elapsedMs) * 1_000;
  const machine = describeMachine();
  if (options.json) {
    console.log(JSON.stringify({ machine, options, sent, statuses, requestsPerSecond, answers, cpu }, undefined, 2));
  } else {
    console.log(formatMachine(machine));
    console.log(`ingest: ${formatCount(sent)} requests, ${options.connections} connections`);
    console.log(line('accepted/s', formatCount(requestsPerSecond)));
    console.log(line('request to answer', formatLatency(answers)));
    console.log(line('answers by status', JSON.stringify(statuses)));
    console.log(line('CPU, µs a request', formatCpu(cpu, sent)));
  }
  return statuses[200] === sent;
}
