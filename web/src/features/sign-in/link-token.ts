import { useEffect, useState } from 'react';

const read = () => new URLSearchParams(location.hash.slice(1)).get('token') ?? '';

/**
 * The token of a mailed link. It stays when the address loses it, and another link that is opened
 * in the same tab replaces it: only the fragment differs then, so nothing is loaded.
 */
export function useLinkToken(): string {
  const [token, setToken] = useState(read);
  useEffect(() => {
    const follow = () => setToken((before) => read() || before);
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return token;
}
