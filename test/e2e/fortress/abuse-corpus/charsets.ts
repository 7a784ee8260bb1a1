import { type AbuseCase, type AbuseFamily, action, chat, refused, render, slug, step } from './abuse-case.js';

const CHARSET = 'RFC 8259 §8.1; OWASP ASVS 5.0 1.5.3';

/** Parameters by which some reader decodes a body in another charset than UTF-8. */
const PARAMETERS: readonly string[] = [
  'charset=utf-7',
  'charset=UTF-7',
  'charset="utf-7"',
  "charset='utf-7'",
  'charset=unicode-1-1-utf-7',
  'charset=utf-16',
  'charset=utf-16le',
  'charset=utf-16be',
  'charset=utf-32le',
  'charset=ucs-2',
  'charset=iso-8859-1',
  'charset=windows-1252',
  'charset=shift_jis',
  'charset=ebcdic-cp-us',
  'charset=',
  'charset=x',
  'charset=utf-8; charset=utf-7',
  'charset=utf-7; charset=utf-8',
  'charset=utf-8;CHARSET=utf-7',
  'charset =utf-7',
  'charset= utf-7',
  "charset*=us-ascii''utf-7",
  'charset*0=utf-; charset*1=7',
  'x="; charset=utf-7"',
  'charset=utf-8, application/json; charset=utf-7',
];

/** A chat message to a reader of UTF-8, and the list of all tasks to one of UTF-7. */
const UTF7 = '{"jsonrpc":"2.0","id":1,"method":"SendMessage","x":"+ACI-,+ACI-method+ACI-:+ACI-ListTasks","params":{}}';
const UTF16 = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{}}', 'utf16le').toString('latin1');

/** Bodies that are one text to the site and another to a reader that believes the charset of their type. */
export const charsets: AbuseFamily = {
  name: 'charsets',
  cases: [
    ...PARAMETERS.flatMap((parameter, index) =>
      Object.entries({ chat, render, action }).map(([name, make]): AbuseCase => ({
        id: `charset-${name}-${String(index)}-${slug(parameter)}`,
        tries: `have a ${name} decoded by "${parameter}"`,
        fact: CHARSET,
        steps: [step(make([`Content-Type: application/json; ${parameter}`], UTF7))],
        // A parser in front may know the charset no better than the site does.
        safe: refused(400, 415),
      })),
    ),
    ...(['', '; charset=utf-16le', '; charset=utf-8'] as const).map((parameter): AbuseCase => ({
      id: `charset-utf-16${slug(parameter)}`,
      tries: `call a denied method in UTF-16 declared as "${parameter}"`,
      fact: CHARSET,
      steps: [step(chat([`Content-Type: application/json${parameter}`], UTF16))],
      safe: refused(400, 415),
    })),
    ...(['charset=utf-8', 'charset="UTF-8"', 'charset=utf8'] as const).map((parameter): AbuseCase => ({
      id: `charset-own-${slug(parameter)}`,
      tries: `leave the agent in doubt of its bytes by "${parameter}"`,
      fact: CHARSET,
      steps: [step(chat([`Content-Type: application/json; ${parameter}`]))],
      // What was judged as UTF-8 goes on under a type that leaves nothing to decide.
      safe: { statuses: [200, 415], platform: 'may', notUpstream: ['charset'] },
    })),
  ],
};
