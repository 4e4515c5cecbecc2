import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import { api } from '../../api/client.ts';
import { classNames } from '../../ui/class-names.ts';
import { TextField } from '../../ui/field.tsx';
import { ProblemNote } from '../../ui/problem.tsx';

/** Sources of the registry by the words of their name, key and description. */
export function RegistrySearch({ value, onChange }: { value: string; onChange: (key: string) => void }) {
  const [text, setText] = useState(value);
  const q = useDeferredValue(text.trim());
  const found = useQuery({
    queryKey: ['registry', 'source', q],
    queryFn: ({ signal }) => {
      const query = { type: 'source' as const, limit: 20, ...(q === '' ? {} : { q }) };
      return api.get('/v1/components/registry', { query, signal });
    },
  });
  return (
    <div className="flex flex-col gap-2">
      <TextField
        label="Search the registry"
        type="search"
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <ProblemNote error={found.error} />
      <ul
        role="listbox"
        aria-label="Components of the registry"
        className="max-h-72 divide-y divide-line overflow-y-auto rounded-md border border-line"
      >
        {found.data?.data
          .map(({ id, key: ownKey, name, version, description }) => ({ key: ownKey ?? id, name, version, description }))
          .map(({ key, name, version, description }) => (
            <li
              key={key}
              role="option"
              aria-selected={key === value}
              tabIndex={0}
              onClick={() => onChange(key)}
              onKeyDown={(event) => event.key === 'Enter' && onChange(key)}
              className={classNames(
                'cursor-pointer px-3 py-2 text-sm hover:bg-sunken',
                key === value && 'bg-accent-soft',
              )}
            >
              <span className="font-medium">{name}</span>{' '}
              <span className="font-mono text-xs text-ink-faint">
                {key}@{version}
              </span>
              {description !== null && <p className="truncate text-xs text-ink-soft">{description}</p>}
            </li>
          ))}
        {found.data?.data.length === 0 && <li className="px-3 py-2 text-sm text-ink-soft">Nothing matches.</li>}
      </ul>
    </div>
  );
}
