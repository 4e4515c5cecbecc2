import { Fragment, type ReactNode } from 'react';

/** Shown characters of a text by a component's author. */
const MAX_CHARS = 8_000;

/**
 * The little markdown that descriptions of props have: paragraphs, lists, **bold**, `code` and
 * links. It makes elements, never HTML, so nothing that a component's author writes can run or load
 * anything.
 */
export function Markdown({ text }: { text: string }) {
  const blocks = text.slice(0, MAX_CHARS).split(/\n\s*\n/);
  return (
    <>
      {blocks.map((block, index) => {
        const lines = block.split('\n');
        const isList = lines.every((line) => /^\s*[-*] /.test(line));
        const key = `${index}`;
        if (!isList) return <p key={key}>{inline(block)}</p>;
        return (
          <ul key={key} className="list-disc pl-4">
            {lines.map((line) => (
              <li key={line}>{inline(line.replace(/^\s*[-*] /, ''))}</li>
            ))}
          </ul>
        );
      })}
    </>
  );
}

const INLINE = /(\*\*[^*]+\*\*|`[^`]+`|\[[^\]]+\]\(https?:\/\/[^\s)]+\))/;

function inline(text: string): ReactNode[] {
  return text.split(INLINE).map((part, index) => {
    const key = `${index}`;
    if (part.startsWith('**')) return <strong key={key}>{part.slice(2, -2)}</strong>;
    if (part.startsWith('`') && part.length > 1) {
      return (
        <code key={key} className="rounded bg-sunken px-1 font-mono">
          {part.slice(1, -1)}
        </code>
      );
    }
    const link = /^\[([^\]]+)\]\((https?:\/\/[^\s)]+)\)$/.exec(part);
    if (link === null) return <Fragment key={key}>{part}</Fragment>;
    return (
      <a key={key} href={link[2]} target="_blank" rel="noreferrer noopener" className="text-accent underline">
        {link[1]}
      </a>
    );
  });
}
