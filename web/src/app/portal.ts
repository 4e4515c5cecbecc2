import { BASE_PATH } from '../api/base-url.ts';

/**
 * The portal of a customer: the webhooks of one account alone, for a page of another product to
 * show in a frame. Its key is in the fragment of the link, and stays in memory: browsers keep
 * cookies from frames, and the key ends soon.
 */
export interface Portal {
  key: string;
  title: string;
  mode: 'light' | 'dark' | undefined;
  accent: string | undefined;
}

const COLOUR = /^#[0-9a-f]{6}$/i;

/** Undefined for every other page. */
export const portal: Portal | undefined = readPortal();

function readPortal(): Portal | undefined {
  if (location.pathname !== `${BASE_PATH}portal`) return undefined;
  const given = new URLSearchParams(location.hash.slice(1));
  const [mode, accent] = [given.get('mode'), given.get('accent') ?? ''];
  return {
    key: given.get('key') ?? '',
    title: given.get('title') ?? 'Webhooks',
    mode: mode === 'light' || mode === 'dark' ? mode : undefined,
    accent: COLOUR.test(accent) ? accent : undefined,
  };
}

/** Over the colours of the theme. */
export function applyAccent({ accent }: Portal): void {
  if (accent === undefined) return;
  const { style } = document.documentElement;
  style.setProperty('--accent', accent);
  style.setProperty('--accent-strong', accent);
  style.setProperty('--accent-soft', `color-mix(in srgb, ${accent} 12%, var(--surface))`);
  style.setProperty('--on-accent', isBright(accent) ? '#0e1413' : '#ffffff');
}

/** Whether dark text is easier to read on it: its luminance, as WCAG has it, is nearer to white. */
function isBright(colour: string): boolean {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179;
}
