import { chooseProfile } from '../config/choose-server.ts';
import { createLogin } from '../config/create-login.ts';
import { type CommandSpec, SERVER_EXITS } from '../command.ts';

export const login: CommandSpec = {
  path: 'login',
  summary: 'Log in to a server with an API key',
  details:
    'The key is asked for at a terminal, else read from the first line of standard input; --api-key and HEADWATER_API_KEY go before both, the latter for HEADWATER_URL alone where that is set. A profile that -p names and that is there keeps its server, unless --url names another. The key is checked and then kept with the URL under the name of the profile, in a file that only you may read.',
  examples: [
    { does: 'A server on this machine', command: 'hw login' },
    { does: 'Another one, as a profile of its own', command: 'hw login --url https://hw.example.com -p work' },
    { does: 'In a script', command: 'hw login --url https://hw.example.com < key.txt' },
  ],
  json: '{ profile, url, user } (`user` as `GET /v1/users/me` answers it)',
  exits: SERVER_EXITS,
  run: createLogin,
};

export const logout: CommandSpec = {
  path: 'logout',
  summary: 'Forget the key of a profile',
  details: 'The key itself stays valid: `hw keys revoke` ends it.',
  examples: [
    { does: 'The default profile', command: 'hw logout' },
    { does: 'Another one', command: 'hw logout -p work' },
  ],
  json: '{ profile, removed }',
  async run({ profiles, input, environment }) {
    const profile = chooseProfile(input.text('profile'), environment);
    const removed = await profiles.remove(profile);
    const text = removed
      ? `The key of the profile ${profile} is forgotten.`
      : `There was no key of the profile ${profile}.`;
    return { json: { profile, removed }, text, quiet: '' };
  },
};
