const WIDTH = 96;
const HEIGHT = 20;
const GAP = 1;

/** Bars of recent activity, with failures in red. Decorative: `label` says it in words. */
export function Sparkline(props: { activity: readonly number[]; failures?: readonly number[]; label: string }) {
  const { activity, failures = [], label } = props;
  const most = Math.max(1, ...activity, ...failures);
  const step = WIDTH / Math.max(1, activity.length);
  const heightOf = (value: number) => (value === 0 ? 0 : Math.max(2, (value / most) * HEIGHT));
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      className="h-5 w-24"
      preserveAspectRatio="none"
    >
      <path d={`M0 ${HEIGHT - 0.5}H${WIDTH}`} className="stroke-line" strokeWidth="1" />
      {activity.map((value, i) => (
        <rect
          key={`${i}-activity`}
          x={i * step}
          y={HEIGHT - heightOf(value)}
          width={Math.max(1, step - GAP)}
          height={heightOf(value)}
          className="fill-accent"
        />
      ))}
      {failures.map((value, i) => (
        <rect
          key={`${i}-failures`}
          x={i * step}
          y={HEIGHT - heightOf(value)}
          width={Math.max(1, step - GAP)}
          height={heightOf(value)}
          className="fill-bad"
        />
      ))}
    </svg>
  );
}
