import { useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

interface ChartSeries {
  name: string;
  /** A variable of the palette: `--accent`. */
  color: string;
  values: readonly number[];
}

export interface TimeChartProps {
  /** Description of the chart: screen readers get nothing else. */
  label: string;
  /** Start of each bucket: epoch milliseconds. */
  at: readonly number[];
  series: readonly ChartSeries[];
}

const HEIGHT_PX = 132;
/** Epoch milliseconds: the axis of uPlot counts seconds unless told. */
const MS = 1;

/** Bars over time, drawn anew when the theme or the width changes. */
export function TimeChart({ label, at, series }: TimeChartProps) {
  const frame = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot>(undefined);
  const [pointed, setPointed] = useState<number>();
  const look = useLook(frame);
  const names = series.map(({ name, color }) => `${name} ${color}`).join();
  useEffect(() => {
    if (frame.current === null || look.width === 0) return undefined;
    const made = new uPlot(optionsOf(series, look, setPointed), dataOf(at, series), frame.current);
    chart.current = made;
    return () => {
      chart.current = undefined;
      made.destroy();
    };
    // The data goes in below: a chart that is only redrawn keeps its cursor.
  }, [names, look]);
  useEffect(() => chart.current?.setData(dataOf(at, series)), [at, series]);
  const time = pointed === undefined ? undefined : at[pointed];
  return (
    <div className="px-2 pb-2">
      <div ref={frame} role="img" aria-label={label} style={{ height: HEIGHT_PX }} />
      <p aria-hidden="true" className="flex h-4 gap-3 px-2 text-xs text-ink-soft tabular-nums">
        {time === undefined
          ? series.map(({ name, color }) => <Key key={name} color={color} text={name} />)
          : [
              <span key="time">{clock.format(time)}</span>,
              ...series.map(({ name, color, values }) => (
                <Key key={name} color={color} text={`${name} ${values[pointed ?? 0] ?? 0}`} />
              )),
            ]}
      </p>
    </div>
  );
}

const clock = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

function Key({ color, text }: { color: string; text: string }) {
  return (
    <span className="flex items-center gap-1">
      <span className="size-2 rounded-xs" style={{ background: `var(${color})` }} />
      {text}
    </span>
  );
}

interface Look {
  width: number;
  theme: string;
}

/** Width and theme for the drawing: a canvas does not adapt to either by itself. */
function useLook(frame: React.RefObject<HTMLDivElement | null>): Look {
  const [look, setLook] = useState<Look>({ width: 0, theme: '' });
  useEffect(() => {
    const read = () => {
      const next = {
        width: Math.floor(frame.current?.clientWidth ?? 0),
        theme: document.documentElement.dataset['theme'] ?? '',
      };
      setLook((last) => (last.width === next.width && last.theme === next.theme ? last : next));
    };
    const sizes = new ResizeObserver(read);
    const themes = new MutationObserver(read);
    if (frame.current !== null) sizes.observe(frame.current);
    themes.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    read();
    return () => {
      sizes.disconnect();
      themes.disconnect();
    };
  }, [frame]);
  return look;
}

function bucketOf(chart: uPlot): number {
  const [first = 0, second = first] = chart.data[0];
  return second - first;
}

const DAY_MS = 86_400_000;
const hours = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hour12: false });
const days = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });

function labelsOf(ticks: readonly number[]): string[] {
  const [first = 0, second = first] = ticks;
  const isDays = second - first >= DAY_MS;
  return ticks.map((tick) => (isDays ? days : hours).format(tick));
}

function dataOf(at: readonly number[], series: readonly ChartSeries[]): uPlot.AlignedData {
  return [[...at], ...series.map(({ values }) => [...values])];
}

function optionsOf(
  series: readonly ChartSeries[],
  { width }: Look,
  onPoint: (index: number | undefined) => void,
): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const colorOf = (name: string) => style.getPropertyValue(name).trim();
  const bars = uPlot.paths.bars?.({ size: [0.8, 40], align: 1 });
  const axis = {
    stroke: colorOf('--ink-faint'),
    font: '11px "Inter Variable", system-ui, sans-serif',
    grid: { stroke: colorOf('--line'), width: 1 },
    ticks: { show: false },
  };
  return {
    width,
    height: HEIGHT_PX,
    ms: MS,
    legend: { show: false },
    // Half of a label stands beside the last tick.
    padding: [8, 18, 0, 0],
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: {
      // A bar stands to the right of where its bucket begins: the last one needs room.
      x: { range: (chart, min, max) => [min, max + bucketOf(chart)] },
      y: { range: (_chart, _min, max) => [0, Math.max(4, max * 1.1)] },
    },
    axes: [
      { ...axis, grid: { show: false }, size: 24, space: 70, values: (_chart, ticks) => labelsOf(ticks) },
      { ...axis, size: 40, incrs: [1, 2, 5, 10, 25, 50, 100, 250, 500, 1e3, 2.5e3, 5e3, 1e4, 5e4, 1e5, 1e6, 1e7] },
    ],
    series: [
      {},
      ...series.map(({ name, color }) => ({
        label: name,
        fill: colorOf(color),
        width: 0,
        points: { show: false },
        ...(bars === undefined ? {} : { paths: bars }),
      })),
    ],
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? undefined)] },
  };
}
