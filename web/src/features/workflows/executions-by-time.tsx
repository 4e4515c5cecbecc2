import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { ProblemNote } from '../../ui/problem.tsx';
import { type Measure, MeasurePanel } from '../overview/measure-panel.tsx';
import { RangeChoice } from '../overview/range-choice.tsx';
import { RANGES, rangeOf, seriesQuery } from '../overview/stat-queries.ts';
import { ENDED_WELL } from './workflow-queries.ts';

const MEASURE: Measure = {
  title: 'Executions by time',
  counters: [
    { counter: 'runs_ok', name: 'ok', color: '--accent' },
    { counter: 'runs_failed', name: 'failed', color: '--bad' },
  ],
};

/** Executions of a workflow that have ended: each number leads to those of its kind. */
export function ExecutionsByTime({ workflowId: id }: { workflowId: string }) {
  const { range: asked } = useSearch({ from: '/shell/workflows/$id' });
  const range = rangeOf(asked);
  const navigate = useNavigate({ from: '/workflows/$id' });
  const { data, error } = useQuery(seriesQuery(range, { emitter_id: id }));
  return (
    <>
      <ProblemNote error={error} />
      <MeasurePanel
        measure={MEASURE}
        range={range}
        series={data}
        actions={
          <RangeChoice
            range={range}
            onChange={(next) =>
              void navigate({
                search: (search) => ({ ...search, range: next === 'hour' ? undefined : next }),
                replace: true,
              })
            }
          />
        }
        rowsLink={({ counter, className, children }) => (
          <Link
            to="/workflows/$id"
            params={{ id }}
            search={(search) => ({
              ...search,
              status: counter === 'runs_failed' ? 'failed' : ENDED_WELL,
              time: RANGES[range].time,
            })}
            className={className}
          >
            {children}
          </Link>
        )}
      />
    </>
  );
}
