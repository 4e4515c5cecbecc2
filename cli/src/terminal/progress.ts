import type { OutputStream } from './output-stream.ts';
import { safeLine } from './safe-text.ts';

export interface Progress {
  /** Another text. */
  say(text: string): void;
}

export interface ProgressLine {
  during<T>(text: string, work: (progress: Progress) => Promise<T>): Promise<T>;
  /** Writes something else meanwhile. */
  around(write: () => void): void;
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 80;
const CLEAR_LINE = '\r\u001B[K';

/** One line at the bottom of a terminal while something takes long; nothing at all elsewhere. */
export function createProgress(stream: OutputStream, enabled: boolean): ProgressLine {
  let shown: string | undefined;
  let frame = 0;
  const draw = () => {
    if (shown === undefined) return;
    frame = (frame + 1) % FRAMES.length;
    stream.write(`${CLEAR_LINE}${FRAMES[frame]} ${safeLine(shown)}`);
  };
  return {
    async during(text, work) {
      if (!enabled) return work({ say: () => undefined });
      shown = text;
      const timer = setInterval(draw, FRAME_MS);
      try {
        return await work({
          say(next) {
            shown = next;
          },
        });
      } finally {
        clearInterval(timer);
        shown = undefined;
        stream.write(CLEAR_LINE);
      }
    },
    around(write) {
      if (shown !== undefined) stream.write(CLEAR_LINE);
      write();
      draw();
    },
  };
}
