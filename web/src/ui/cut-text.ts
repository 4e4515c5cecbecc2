const CUT = '.truncate, .line-clamp-2';
const MAX_SHOWN_CHARS = 2_000;

/** The whole text of what is cut off, on hover. Elements with a title of their own keep it. */
export function showCutText(): void {
  document.addEventListener('mouseover', ({ target }) => {
    const element = target instanceof Element ? target.closest<HTMLElement>(CUT) : null;
    if (element === null) return;
    const isOurs = element.dataset['cut'] !== undefined;
    if (!isOurs && (element.closest('[title]') !== null || element.querySelector('[title]') !== null)) return;
    const isCut = element.scrollWidth > element.clientWidth || element.scrollHeight > element.clientHeight;
    // The text may have changed since, or the room for it.
    if (isCut) {
      element.dataset['cut'] = '';
      element.title = element.innerText.slice(0, MAX_SHOWN_CHARS);
    } else if (isOurs) {
      delete element.dataset['cut'];
      element.removeAttribute('title');
    }
  });
}
