import { lazy, Suspense } from 'react';
import type { CodeEditorProps } from './code-editor.tsx';

const Editor = lazy(() => import('./code-editor.tsx').then(({ CodeEditor }) => ({ default: CodeEditor })));

const LINE_PX = 19.4;
const MIN_LINES = 6;

/**
 * The editor, loaded when it is first shown; until then its text in the same place, which the
 * keyboard scrolls as well.
 */
export function CodeView(props: CodeEditorProps) {
  return (
    <Suspense
      fallback={
        <pre
          tabIndex={0}
          className="max-h-[60vh] overflow-auto rounded-md border border-line bg-sunken p-3 font-mono text-xs"
          style={{ height: `${Math.max(props.value.split('\n').length, MIN_LINES) * LINE_PX}px` }}
        >
          {props.value}
        </pre>
      }
    >
      <Editor {...props} />
    </Suspense>
  );
}
