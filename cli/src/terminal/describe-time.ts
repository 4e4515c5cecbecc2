/** `2026-11-20 14:03:07` in the local time zone. */
export function localTime(epochMs: number): string {
  const date = new Date(epochMs);
  const two = (value: number) => String(value).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** `14:03:07.123`. */
export function clockTime(epochMs: number): string {
  const ms = String(Math.floor(epochMs) % 1000).padStart(3, '0');
  return `${localTime(epochMs).slice(11)}.${ms}`;
}

export function ofSeconds(epochSeconds: number | null | undefined): string {
  return epochSeconds === null || epochSeconds === undefined ? '' : localTime(epochSeconds * 1000);
}
