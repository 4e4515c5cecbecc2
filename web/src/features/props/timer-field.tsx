import { Field, INPUT_CLASS } from '../../ui/field.tsx';
import type { PropFieldProps } from './prop-form.tsx';
import { fieldOf } from './simple-fields.tsx';

interface TimerValue {
  intervalSeconds?: number;
  cron?: string;
  timezone?: string;
}

/** The API answers `interval_seconds` and takes `intervalSeconds`. */
function timerOf(value: unknown): TimerValue {
  if (typeof value !== 'object' || value === null) return {};
  const { interval_seconds: interval, intervalSeconds, cron, timezone } = value as Record<string, unknown>;
  const seconds = intervalSeconds ?? interval;
  return {
    ...(typeof seconds === 'number' ? { intervalSeconds: seconds } : {}),
    ...(typeof cron === 'string' ? { cron } : {}),
    ...(typeof timezone === 'string' ? { timezone } : {}),
  };
}

/** An interval, or a cron expression with a time zone. */
export function TimerField({ definition, value, onChange, errors }: PropFieldProps) {
  const current = timerOf(value ?? definition.default);
  const isCron = current.cron !== undefined;
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return (
    <Field {...fieldOf({ definition, errors })}>
      {(ids) => (
        <div className="flex flex-wrap gap-2">
          <select
            aria-label="Timer type"
            className={`${INPUT_CLASS} max-w-36`}
            value={isCron ? 'cron' : 'interval'}
            onChange={({ target }) =>
              onChange(target.value === 'cron' ? { cron: '0 9 * * *', timezone: zone } : { intervalSeconds: 60 })
            }
          >
            <option value="interval">every … seconds</option>
            <option value="cron">cron</option>
          </select>
          {isCron ? (
            <>
              <input
                {...ids}
                className={`${INPUT_CLASS} max-w-48 font-mono`}
                value={current.cron}
                onChange={({ target }) => onChange({ ...current, cron: target.value })}
              />
              <input
                aria-label="Time zone"
                className={`${INPUT_CLASS} max-w-48`}
                value={current.timezone ?? ''}
                placeholder="UTC"
                onChange={({ target: { value: timezone } }) =>
                  onChange({ cron: current.cron, ...(timezone === '' ? {} : { timezone }) })
                }
              />
            </>
          ) : (
            <input
              {...ids}
              type="number"
              min={1}
              className={`${INPUT_CLASS} max-w-36`}
              value={current.intervalSeconds ?? ''}
              onChange={({ target }) => onChange({ intervalSeconds: Number(target.value) })}
            />
          )}
        </div>
      )}
    </Field>
  );
}
