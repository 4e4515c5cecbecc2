/**
 * The frames of an error, whose message is shown above. A long line is broken: nothing of it is
 * out of sight.
 */
export function Stack({ text, message }: { text: string; message: string }) {
  const frames = withoutMessage(text, message);
  if (frames === '') return null;
  return (
    <pre aria-label="Stack" className="mt-2 font-mono text-xs break-words whitespace-pre-wrap">
      {frames}
    </pre>
  );
}

/** The kind of the error stays, where it says more than `Error`. */
function withoutMessage(text: string, message: string): string {
  const at = text.indexOf(message);
  if (message === '' || at === -1 || text.slice(0, at).includes('\n')) return text;
  const kind = text.slice(0, at).replace(/:\s*$/, '');
  const frames = text.slice(at + message.length).replace(/^\n/, '');
  return kind === '' || kind === 'Error' ? frames : `${kind}\n${frames}`;
}
