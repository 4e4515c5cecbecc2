import { useEffect, useRef, useState } from 'react';
import { INPUT_CLASS } from './field.tsx';

const TYPING_MS = 300;

interface SearchBoxProps {
  value: string;
  label: string;
  onChange: (text: string) => void;
}

export function SearchBox({ value, label, onChange }: SearchBoxProps) {
  return (
    <div className="w-44 max-sm:w-auto max-sm:min-w-24 max-sm:flex-1">
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        className={`${INPUT_CLASS} h-8`}
      />
    </div>
  );
}

/** A search by the server: it begins when the reader stops to type. The field keeps the focus. */
export function QueryBox({ value, label, onChange }: SearchBoxProps) {
  const [typed, setTyped] = useState(value);
  const change = useRef(onChange);
  change.current = onChange;
  const told = useRef(value);
  useEffect(() => {
    // Back, forward and Clear change it as well.
    if (value !== told.current) setTyped(value);
    told.current = value;
  }, [value]);
  useEffect(() => {
    if (typed === told.current) return undefined;
    const timer = setTimeout(() => {
      told.current = typed;
      change.current(typed);
    }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return <SearchBox value={typed} label={label} onChange={setTyped} />;
}
