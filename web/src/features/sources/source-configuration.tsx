import { useQuery } from '@tanstack/react-query';
import { CodeView } from '../../ui/code-view.tsx';
import { JsonTree } from '../../ui/json-tree.tsx';
import { Panel } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { componentQuery, type Source } from './source-queries.ts';

export function SourceConfiguration({ source }: { source: Source }) {
  const component = useQuery(componentQuery(source.component_id));
  return (
    <div className="flex flex-col gap-4">
      <Panel title="Props">
        <div className="p-4">
          <JsonTree value={source.configured_props} label="Configured props" />
        </div>
      </Panel>
      <Panel title="Code">
        <div className="p-4">
          <ProblemNote error={component.error} />
          {component.data !== undefined && <CodeView value={component.data.code} label="Code" language="typescript" />}
        </div>
      </Panel>
    </div>
  );
}
