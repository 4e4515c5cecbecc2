import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { currentSession } from '../../api/session.ts';
import { publicUrl } from '../../api/base-url.ts';
import { CopyButton } from '../../ui/copy.tsx';
import { Markdown } from '../../ui/markdown.tsx';
import { ProblemNote } from '../../ui/problem.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { SearchBox } from '../../ui/search-box.tsx';
import {
  exampleOf,
  fieldsOf,
  type OpenApi,
  type Operation,
  operationsOf,
  readOpenApi,
  type Schema,
  typeOf,
} from './openapi.ts';

/** The reference of the REST API, made of the server's own document and of nothing else. */
export function ApiReference() {
  const [search, setSearch] = useState('');
  const document = useQuery({
    queryKey: ['openapi'],
    queryFn: ({ signal }) => readOpenApi(signal),
    staleTime: Infinity,
  });
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const groups = (document.data?.tags ?? [])
    .map((tag) => ({
      ...tag,
      operations: document.data === undefined ? [] : operationsOf(document.data, tag.name, words),
    }))
    .filter(({ operations }) => operations.length > 0);
  return (
    <div className="mx-auto flex max-w-6xl flex-col gap-4 p-4">
      <header className="flex flex-wrap items-center gap-3">
        <h1 className="text-xl font-semibold tracking-tight">API reference</h1>
        <SearchBox value={search} label="Search operations" onChange={setSearch} />
        <a className="text-sm text-accent underline" href={publicUrl('/openapi.json')}>
          openapi.json
        </a>
        <Link to="/" className="ml-auto text-sm text-accent underline">
          {currentSession() === undefined ? 'Sign in' : 'Back'}
        </Link>
      </header>
      <ProblemNote error={document.error} />
      {document.isPending && <SkeletonRows />}
      {document.data !== undefined && (
        <div className="flex items-start gap-6 max-sm:flex-col">
          <nav
            aria-label="Groups"
            className="sticky top-4 flex w-44 shrink-0 flex-col gap-1 text-sm max-sm:static max-sm:grid max-sm:w-full max-sm:grid-cols-2"
          >
            {groups.map(({ name }) => (
              <a key={name} href={`#${anchorOf(name)}`} className="text-ink-soft hover:text-ink" onClick={scrollTo}>
                {name}
              </a>
            ))}
          </nav>
          <main className="flex min-w-0 flex-1 flex-col gap-8">
            {groups.length === 0 && <p className="text-sm text-ink-soft">No operation has these words.</p>}
            {groups.map((group) => (
              <section key={group.name} id={anchorOf(group.name)} className="flex flex-col gap-2">
                <h2 className="text-lg font-semibold">{group.name}</h2>
                <p className="text-sm text-ink-soft">{group.description}</p>
                {group.operations.map((operation) => (
                  <OperationView key={operation.operationId} document={document.data} operation={operation} />
                ))}
              </section>
            ))}
          </main>
        </div>
      )}
    </div>
  );
}

const anchorOf = (name: string) => name.toLowerCase().replaceAll(/\W+/g, '-');

/** The page has a base of its own, from which a bare fragment would lead away. */
function scrollTo(event: { preventDefault(): void; currentTarget: HTMLAnchorElement }) {
  event.preventDefault();
  document.querySelector(event.currentTarget.hash)?.scrollIntoView();
}

function OperationView({ document, operation }: { document: OpenApi; operation: Operation }) {
  const [isOpen, setOpen] = useState(false);
  const { method, path, summary } = operation;
  return (
    <details className="rounded-md border border-line" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="flex cursor-pointer flex-wrap items-baseline gap-2 px-3 py-2 text-sm">
        <code className="w-14 shrink-0 font-mono text-xs font-semibold">{method}</code>
        <code className="font-mono text-xs break-all">{path}</code>
        <span className="text-ink-soft">{summary}</span>
      </summary>
      {isOpen && <OperationBody document={document} operation={operation} />}
    </details>
  );
}

function OperationBody({ document, operation }: { document: OpenApi; operation: Operation }) {
  const { parameters = [], requestBody, responses, security = [] } = operation;
  const request = exampleOf(document, requestBody?.content);
  const needs = security.flatMap((one) => Object.keys(one));
  const rows: [string, Schema, boolean][] = [
    ...parameters.map((one): [string, Schema, boolean] => [
      `${one.name} (${one.in})`,
      { ...one.schema, ...(one.description === undefined ? {} : { description: one.description }) },
      one.required === true,
    ]),
    ...fieldsOf(document, requestBody?.content),
  ];
  return (
    <div className="flex flex-col gap-3 border-t border-line px-3 py-3 text-sm">
      <Markdown text={operation.description} />
      <p className="text-ink-soft">
        {needs.length === 0 ? 'Needs no key.' : `Takes ${needs.map((name) => KEYS[name] ?? name).join(' or ')}.`}
      </p>
      <Fields rows={rows} />
      <Example title="Request" text={curlOf(operation, request)} />
      {Object.entries(responses).map(([status, answer]) => {
        const example = exampleOf(document, answer.content);
        return (
          <div key={status}>
            <p>
              <code className="font-mono text-xs font-semibold">{status}</code> {answer.description}
            </p>
            {example !== undefined && <Example title={`Answer ${status}`} text={JSON.stringify(example, null, 2)} />}
          </div>
        );
      })}
    </div>
  );
}

const KEYS: Readonly<Record<string, string>> = {
  apiKey: 'a key of the account',
  adminKey: 'the key of the operator',
  streamToken: 'a stream token',
};

function Fields({ rows }: { rows: [string, Schema, boolean][] }) {
  if (rows.length === 0) return null;
  return (
    <table className="w-full text-left text-xs">
      <thead>
        <tr>
          <th className="pr-3">Parameter</th>
          <th className="pr-3">Type</th>
          <th>Meaning</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, schema, isRequired]) => (
          <tr key={name} className="border-t border-line align-top">
            <td className="py-1 pr-3 font-mono">
              {name}
              {isRequired && ' *'}
            </td>
            <td className="max-w-40 py-1 pr-3 break-words">{typeOf(schema)}</td>
            <td className="py-1">
              <Markdown text={schema.description ?? ''} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Example({ title, text }: { title: string; text: string }) {
  return (
    <figure className="flex flex-col gap-1">
      <figcaption className="flex items-center gap-1 text-xs text-ink-soft">
        {title}
        <CopyButton text={text} what={title.toLowerCase()} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it */}
      <pre tabIndex={0} className="max-h-80 overflow-auto rounded bg-sunken p-2 font-mono text-xs">
        {text}
      </pre>
    </figure>
  );
}

function curlOf({ method, path, security = [] }: Operation, body: unknown): string {
  const lines = [`curl -X ${method} '${publicUrl(path)}'`];
  if (security.length > 0) lines.push(`-H "Authorization: Bearer $HEADWATER_API_KEY"`);
  if (body !== undefined)
    lines.push("-H 'Content-Type: application/json'", `-d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`);
  return lines.join(' \\\n  ');
}
