import { expect, test } from 'vitest';
import { sameAsNode } from '../support/same-as-node.ts';

const runBoth = sameAsNode();

test('URLs are parsed, changed and refused as in Node', async () => {
  const { guest, node } = await runBoth({
    parts: () =>
      [
        'https://ü.example:443/a/../b c?x=1#h',
        'http://u:p@[::1]:8080/',
        'mailto:a@b',
        'file:///C:/x',
        'HTTP://EXAMPLE.com',
        'http://日本語.jp/',
        'http://0x7f.1/',
      ].map((text) => {
        const { href, origin, protocol, username, password, host, hostname, port, pathname, search, hash } = new URL(
          text,
        );
        return [href, origin, protocol, username, password, host, hostname, port, pathname, search, hash];
      }),
    base: () => [new URL('../x?y', 'https://a.example/b/c/d').href, URL.parse('//h/p', 'http://a/')?.href],
    statics: () => [URL.canParse('nope'), URL.canParse('/p', 'http://a'), URL.parse('nope')],
    refused: () => new URL('http://a b/'),
    code: () => {
      try {
        return new URL('no url');
      } catch (error) {
        const { code, input, message } = error as Error & { code: string; input: string };
        return [code, input, message];
      }
    },
    setters: () => {
      const url = new URL('http://a.example/p?q=1#h');
      url.protocol = 'https';
      url.host = 'b.example:99';
      url.port = 'nonsense';
      url.pathname = 'x y';
      url.search = '?ü=1';
      url.hash = '';
      url.username = 'me@';
      return [url.href, JSON.stringify({ url }), String(url)];
    },
    parameters: () => {
      const url = new URL('http://a.example/?b=2&a=1&b=3');
      url.searchParams.append('c', ' +&=ü~');
      url.searchParams.delete('b', '2');
      url.searchParams.sort();
      const before = url.href;
      url.search = 'z=9';
      return [before, [...url.searchParams], url.searchParams.size];
    },
    query: () => [
      [...new URLSearchParams('?a=%C3%BC&b=%zz&c=%ff&d&=e&&f=1=2+3')],
      String(new URLSearchParams({ 'a b': "!'()*~", c: '' })),
      String(
        new URLSearchParams([
          ['a', '1'],
          ['a', '2'],
        ]),
      ),
      new URLSearchParams('a=1&b=2').has('a', '2'),
      Object.prototype.toString.call(new URLSearchParams().entries()),
    ],
    pairs: () => new URLSearchParams([['a']] as unknown as [string, string][]),
  });
  expect(guest).toEqual(node);
});
