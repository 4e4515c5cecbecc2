import { INPUT_CLASS } from './field.tsx';

export function SearchBox({
  value,
  label,
  onChange,
}: {
  value: string;
  label: string;
  onChange: (text: string) => void;
}) {
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
