import { javascript, typescriptLanguage } from '@codemirror/lang-javascript';
import { json } from '@codemirror/lang-json';
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint';
import { unifiedMergeView } from '@codemirror/merge';
import { EditorState, type Extension } from '@codemirror/state';
import { EditorView, tooltips } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { basicSetup } from 'codemirror';
import { useEffect, useLayoutEffect, useRef } from 'react';
import { completeComponent } from './component-completion.ts';

export interface CodeProblem {
  /** From 1. */
  line: number;
  /** From 0. */
  column?: number;
  message: string;
}

export interface CodeEditorProps {
  value: string;
  label: string;
  language: 'typescript' | 'json';
  onChange?: (value: string) => void;
  /** Shown at their lines. */
  problems?: readonly CodeProblem[];
  /** Text to compare with: changes since then are shown. */
  original?: string;
  /** Names that `steps.` completes. */
  steps?: readonly string[];
}

const colours = HighlightStyle.define([
  { tag: tags.string, color: 'var(--code-string)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--code-number)' },
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: 'var(--code-atom)' },
  { tag: [tags.propertyName, tags.definition(tags.variableName)], color: 'var(--code-key)' },
  { tag: tags.comment, color: 'var(--ink-faint)', fontStyle: 'italic' },
]);

const theme = EditorView.theme({
  '&': {
    fontSize: '12.5px',
    backgroundColor: 'var(--sunken)',
    color: 'var(--ink)',
    maxHeight: '60vh',
    borderRadius: 'inherit',
  },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '1.55' },
  '.cm-scroller, .cm-gutters': { borderRadius: 'inherit' },
  '.cm-gutters': { backgroundColor: 'var(--sunken)', color: 'var(--ink-faint)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'color-mix(in srgb, var(--accent) 8%, transparent)' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-1px' },
  '.cm-content': { caretColor: 'var(--ink)' },
  // Room to write in, also where there is one line yet.
  '.cm-content[contenteditable=true]': { minHeight: '8em' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-deletedChunk': { backgroundColor: 'var(--bad-soft)' },
  '.cm-changedLine': { backgroundColor: 'var(--good-soft) !important' },
  // The marks of the library are too faint for text on them.
  '.cm-deletedChunk .cm-deletedText': { background: 'none', textDecoration: 'line-through' },
  '.cm-changedText, .cm-insertedLine': { background: 'none !important', fontWeight: '600' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': { backgroundColor: 'var(--accent)', color: 'var(--on-accent)' },
  '.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--font-mono)' },
  '.cm-completionInfo': { maxWidth: '14rem' },
  '.cm-completionDetail': { color: 'inherit', fontStyle: 'normal' },
  '.cm-tooltip': { backgroundColor: 'var(--raised)', border: '1px solid var(--line)', color: 'var(--ink)' },
});

export function CodeEditor({ value, label, language, onChange, problems, original, steps = [] }: CodeEditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const change = useRef(onChange);
  change.current = onChange;
  const stepsNow = useRef(steps);
  stepsNow.current = steps;
  const isReadOnly = onChange === undefined;
  useLayoutEffect(() => {
    const extensions: Extension[] = [
      basicSetup,
      ...(language === 'json' ? [json()] : [javascript({ typescript: true }), completion(() => stepsNow.current)]),
      syntaxHighlighting(colours),
      theme,
      lintGutter(),
      tooltips({ tooltipSpace: spaceAround }),
      EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) change.current?.(update.state.doc.toString());
      }),
      ...(isReadOnly ? [EditorState.readOnly.of(true)] : []),
      ...(original === undefined ? [] : [unifiedMergeView({ original, mergeControls: false })]),
    ];
    const made = new EditorView({
      state: EditorState.create({ doc: value, extensions }),
      ...(place.current === null ? {} : { parent: place.current }),
    });
    // Long code is scrolled with the keyboard as well.
    made.scrollDOM.tabIndex = 0;
    view.current = made;
    // It guesses the height of its lines until it measures them: now, before anything is drawn.
    made.coordsAtPos(0);
    return () => made.destroy();
    // The editor owns its text: `value` is only the initial text. The next effect applies later
    // changes from outside.
  }, [language, label, isReadOnly, original]);
  useEffect(() => {
    const doc = view.current?.state.doc.toString();
    if (view.current !== null && doc !== value) {
      view.current.dispatch({ changes: { from: 0, to: view.current.state.doc.length, insert: value } });
    }
  }, [value]);
  useEffect(() => {
    const { current } = view;
    if (current !== null) current.dispatch(setDiagnostics(current.state, diagnosticsOf(current.state, problems ?? [])));
  }, [problems]);
  return <div ref={place} className="rounded-md border border-line text-[12.5px]" />;
}

/** A dialog cuts off what leaves it. */
function spaceAround({ dom }: EditorView) {
  const window = { top: 0, left: 0, bottom: innerHeight, right: innerWidth };
  return dom.closest('[role=dialog]')?.getBoundingClientRect() ?? window;
}

const completion = (steps: () => readonly string[]) =>
  typescriptLanguage.data.of({ autocomplete: completeComponent(steps) });

function diagnosticsOf(state: EditorState, problems: readonly CodeProblem[]): Diagnostic[] {
  return problems.map(({ line, column = 0, message }) => {
    const { from, to } = state.doc.line(Math.min(Math.max(line, 1), state.doc.lines));
    const start = Math.min(from + column, to);
    return { from: start, to: Math.max(start, to), severity: 'error', message };
  });
}
