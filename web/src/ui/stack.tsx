/** The stack of an error. A long line is broken: nothing of it is out of sight. */
export function Stack({ text }: { text: string }) {
  return (
    <pre aria-label="Stack" className="mt-2 font-mono text-xs break-words whitespace-pre-wrap">
      {text}
    </pre>
  );
}
