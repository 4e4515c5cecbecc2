/** Where an error came from; what is too wide is scrolled, also with the keyboard. */
export function Stack({ text }: { text: string }) {
  return (
    <pre tabIndex={0} aria-label="Stack" className="mt-2 overflow-x-auto font-mono text-xs">
      {text}
    </pre>
  );
}
