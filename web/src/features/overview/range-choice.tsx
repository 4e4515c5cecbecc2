import { Button } from '../../ui/button.tsx';
import { type Range, RANGES } from './stat-queries.ts';

/** The last hour, day or week. */
export function RangeChoice({ range, onChange }: { range: Range; onChange: (range: Range) => void }) {
  return (
    <div role="group" aria-label="Range" className="flex">
      {(Object.keys(RANGES) as Range[]).map((one) => (
        <Button
          key={one}
          size="small"
          aria-pressed={one === range}
          className="-ml-px rounded-none first:rounded-l-md last:rounded-r-md aria-pressed:bg-accent-soft aria-pressed:text-accent-strong"
          onClick={() => onChange(one)}
        >
          {RANGES[one].label}
        </Button>
      ))}
    </div>
  );
}
