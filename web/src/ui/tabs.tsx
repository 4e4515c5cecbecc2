import { Tabs as Base } from '@base-ui/react/tabs';
import { type ReactNode, useEffect, useRef } from 'react';

export interface Tab {
  value: string;
  label: string;
  panel: ReactNode;
}

export function Tabs(props: { label: string; value: string; onChange: (value: string) => void; tabs: readonly Tab[] }) {
  const { label, value, onChange, tabs } = props;
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const active = list.current?.querySelector<HTMLElement>('[aria-selected=true]');
    if (list.current === null || !active) return;
    // On a phone not all tabs fit. The shown one is in the middle, with its neighbours.
    list.current.scrollLeft = active.offsetLeft + active.offsetWidth / 2 - list.current.clientWidth / 2;
  }, [value]);
  return (
    <Base.Root value={value} onValueChange={(next) => onChange(String(next))}>
      <Base.List
        ref={list}
        aria-label={label}
        className="relative mb-4 flex gap-1 overflow-x-auto border-b border-line"
        activateOnFocus
      >
        {tabs.map((tab) => (
          <Base.Tab
            key={tab.value}
            value={tab.value}
            className="-mb-px h-9 cursor-pointer border-b-2 border-transparent px-2 sm:px-3 text-sm whitespace-nowrap text-ink-soft -outline-offset-2 hover:text-ink data-active:border-accent data-active:font-medium data-active:text-ink"
          >
            {tab.label}
          </Base.Tab>
        ))}
      </Base.List>
      {tabs.map((tab) => (
        <Base.Panel key={tab.value} value={tab.value} className="outline-none">
          {tab.panel}
        </Base.Panel>
      ))}
    </Base.Root>
  );
}
