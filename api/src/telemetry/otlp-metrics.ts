import { type Attribute, attributesOf, nanoseconds } from './otlp-spans.ts';

const CUMULATIVE = 2;
const SCOPE = { name: 'headwater' };

interface Sample {
  labels: Record<string, string>;
  value: number;
}

interface Family {
  name: string;
  help: string;
  type: string;
  /** By the name of the sample: a histogram has three. */
  samples: Map<string, Sample[]>;
}

/**
 * The body of `POST /v1/metrics`, from Prometheus text: what is pushed is what `/metrics` shows.
 * Families of other types than counter, gauge and histogram are left out.
 */
export function metricsRequest(resource: readonly Attribute[], text: string, fromMs: number, nowMs: number): object {
  const times = { startTimeUnixNano: nanoseconds(fromMs), timeUnixNano: nanoseconds(nowMs) };
  const metrics = readFamilies(text).flatMap((family) => metricOf(family, times) ?? []);
  return { resourceMetrics: [{ resource: { attributes: resource }, scopeMetrics: [{ scope: SCOPE, metrics }] }] };
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

function readFamilies(text: string): Family[] {
  const families: Family[] = [];
  let help = '';
  for (const line of text.split('\n')) {
    const [mark, word, name = '', ...rest] = line.split(' ');
    if (mark === '#' && word === 'HELP') help = rest.join(' ');
    if (mark === '#' && word === 'TYPE') families.push({ name, help, type: rest.join(' '), samples: new Map() });
    const [, sampleName, labels = '', value = ''] = LINE.exec(line) ?? [];
    if (sampleName === undefined) continue;
    const samples = families.at(-1)?.samples;
    const known = samples?.get(sampleName) ?? [];
    known.push({ labels: readLabels(labels), value: Number(value.replace('Inf', 'Infinity')) });
    samples?.set(sampleName, known);
  }
  return families;
}

function readLabels(text: string): Record<string, string> {
  const pairs = [...text.matchAll(LABEL)].map(([, name = '', value = '']) => [name, unescaped(value)] as const);
  return Object.fromEntries(pairs);
}

function unescaped(value: string): string {
  return value.replaceAll(/\\(.)/g, (_, char: string) => (char === 'n' ? '\n' : char));
}

type Times = { startTimeUnixNano: string; timeUnixNano: string };

function metricOf({ name, help, type, samples }: Family, times: Times): object | undefined {
  const unit = name.replace(/_total$/, '').match(/_(seconds|bytes)$/)?.[1];
  const head = { name, description: help, unit: unit === 'seconds' ? 's' : unit === 'bytes' ? 'By' : '' };
  const points = () => (samples.get(name) ?? []).flatMap((sample) => pointOf(sample, times));
  if (type === 'gauge') return { ...head, gauge: { dataPoints: points() } };
  if (type === 'counter')
    return { ...head, sum: { dataPoints: points(), aggregationTemporality: CUMULATIVE, isMonotonic: true } };
  if (type !== 'histogram') return undefined;
  const dataPoints = histogramPoints(name, samples, times);
  return { ...head, histogram: { dataPoints, aggregationTemporality: CUMULATIVE } };
}

/** A figure that could not be read is NaN, which JSON does not have. */
function pointOf({ labels, value }: Sample, times: Times): object[] {
  return Number.isFinite(value) ? [{ ...times, attributes: attributesOf(labels), asDouble: value }] : [];
}

function histogramPoints(name: string, samples: Family['samples'], times: Times): object[] {
  const keyOf = (labels: Record<string, string>) => JSON.stringify(Object.entries(labels));
  const sums = new Map(samples.get(`${name}_sum`)?.map(({ labels, value }) => [keyOf(labels), value]));
  const buckets = Map.groupBy(samples.get(`${name}_bucket`) ?? [], ({ labels }) => keyOf(withoutBound(labels)));
  return [...buckets].map(([key, ofOne]) => {
    const ordered = ofOne
      .map(({ labels, value }) => ({ bound: Number(labels['le']?.replace('+Inf', 'Infinity')), value }))
      .sort((one, other) => one.bound - other.bound);
    return {
      ...times,
      attributes: attributesOf(withoutBound(ofOne[0]?.labels ?? {})),
      count: String(ordered.at(-1)?.value ?? 0),
      sum: sums.get(key) ?? 0,
      // Prometheus counts all up to a bound; OTLP those between two.
      bucketCounts: ordered.map(({ value }, at) => String(value - (ordered[at - 1]?.value ?? 0))),
      explicitBounds: ordered.map(({ bound }) => bound).filter(Number.isFinite),
    };
  });
}

function withoutBound(labels: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).filter(([name]) => name !== 'le'));
}
