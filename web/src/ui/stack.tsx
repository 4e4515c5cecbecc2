/** The stack of an error; long lines are scrolled, also with the keyboard. */
export function Stack({ text }: { text: string }) {
  return (
    <pre tabIndex={0} aria-label="Stack" className="mt-2 overflow-x-auto font-mono text-xs">
      {text}
    </pre>
  );
}
