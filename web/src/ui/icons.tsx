import type { ReactNode } from 'react';

/**
 * Drawn here, so that no request goes out for them and none is loaded that is not shown. 16 units
 * wide, 1.5 thick.
 */
const PATHS = {
  overview: <path d="M2.5 13V8.5M6.2 13V3M9.8 13V6M13.5 13v-3" />,
  source: <path d="M8 2v7m0 0 3-3m-3 3L5 6M2.5 10.5v2a1 1 0 0 0 1 1h9a1 1 0 0 0 1-1v-2" />,
  workflow: (
    <>
      <rect x="2" y="2" width="4" height="4" rx="1" />
      <rect x="10" y="10" width="4" height="4" rx="1" />
      <path d="M4 6v4a2 2 0 0 0 2 2h4" />
    </>
  ),
  event: <path d="M9 1.8 3.5 9H8l-1 5.2L12.5 7H8z" />,
  webhook: <path d="M3 8a5 5 0 0 1 10 0M13 8l-2-1.5M13 8l1.5-2M8 8l-2.5 5M5.5 13h-2M8 8l2.5 5h2.5" />,
  trace: <path d="M2.5 3.5h7M4.5 8h8M7.5 12.5h6" />,
  registry: <path d="M8 1.8 13.5 4.8v6.4L8 14.2l-5.5-3V4.8zM2.5 4.8 8 8m0 0 5.5-3.2M8 8v6.2" />,
  connection: (
    <path d="M6.5 9.5 9.5 6.5M7 4.5 8.6 3a2.9 2.9 0 0 1 4.3 4.2L11.5 8.7M9 11.5 7.4 13a2.9 2.9 0 0 1-4.3-4.2L4.5 7.3" />
  ),
  data: (
    <>
      <ellipse cx="8" cy="3.8" rx="5" ry="1.8" />
      <path d="M3 3.8v8.4c0 1 2.2 1.8 5 1.8s5-.8 5-1.8V3.8M3 8c0 1 2.2 1.8 5 1.8S13 9 13 8" />
    </>
  ),
  settings: (
    <>
      <circle cx="8" cy="8" r="2" />
      <path d="M8 1.8v2M8 12.2v2M14.2 8h-2M3.8 8h-2M12.4 3.6 11 5M5 11l-1.4 1.4M12.4 12.4 11 11M5 5 3.6 3.6" />
    </>
  ),
  operator: <path d="M8 1.8 13 4v4c0 3-2.1 5.2-5 6.2C5.1 13.2 3 11 3 8V4zM6 8l1.5 1.5L10.5 6.5" />,
  search: <path d="m10.5 10.5 3 3M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10z" />,
  copy: (
    <>
      <rect x="5.5" y="5.5" width="8" height="8" rx="1.2" />
      <path d="M3.5 10.5a1 1 0 0 1-1-1v-6a1 1 0 0 1 1-1h6a1 1 0 0 1 1 1" />
    </>
  ),
  check: <path d="m3 8.5 3.2 3.2L13 4.8" />,
  cross: <path d="m4 4 8 8M12 4l-8 8" />,
  chevron: <path d="m6 3.5 4.5 4.5L6 12.5" />,
  plus: <path d="M8 3v10M3 8h10" />,
  play: <path d="M5 3.2v9.6L12.5 8z" />,
  pause: <path d="M5.5 3.5v9M10.5 3.5v9" />,
  retry: <path d="M13 3.5v3h-3M12.8 6.5A5.2 5.2 0 1 0 13 9.6" />,
  menu: <path d="M2.5 4.5h11M2.5 8h11M2.5 11.5h11" />,
  more: <path d="M3.5 8h.01M8 8h.01M12.5 8h.01" strokeWidth="2.4" />,
  sun: (
    <>
      <circle cx="8" cy="8" r="2.6" />
      <path d="M8 1.5v1.6M8 12.9v1.6M1.5 8h1.6M12.9 8h1.6M3.4 3.4l1.1 1.1M11.5 11.5l1.1 1.1M12.6 3.4l-1.1 1.1M4.5 11.5l-1.1 1.1" />
    </>
  ),
  clock: (
    <>
      <circle cx="8" cy="8" r="6" />
      <path d="M8 4.5V8l2.5 1.5" />
    </>
  ),
  warning: <path d="M8 2 1.8 13h12.4zM8 6.5v3M8 11.4v.1" />,
  dash: <path d="M4 8h8" />,
  link: <path d="M9.5 2.5h4v4M13.5 2.5 8 8M11.5 9v3.5a1 1 0 0 1-1 1h-7a1 1 0 0 1-1-1v-7a1 1 0 0 1 1-1H7" />,
} satisfies Record<string, ReactNode>;

export type IconName = keyof typeof PATHS;

/** Decorative: the name is beside the icon, or on the button around it. */
export function Icon({ name, className = 'size-4' }: { name: IconName; className?: string }) {
  return (
    <svg
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      className={`shrink-0 ${className}`}
    >
      {PATHS[name]}
    </svg>
  );
}
