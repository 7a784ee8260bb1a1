import { ask, ConversationEnded } from './a2a.js';

const messages = document.querySelector('#messages');
const composer = document.querySelector('#composer');
const send = composer.querySelector('button');
let contextId;

composer.addEventListener('submit', async (event) => {
  event.preventDefault();
  const text = composer.elements.text.value;
  composer.reset();
  send.disabled = true;
  show('user', text);
  const answer = show('agent', '…');
  let isEmpty = true;
  try {
    for await (const piece of ask('/api/a2a', text, contextId)) {
      contextId = piece.contextId ?? contextId;
      if (piece.text === '') continue;
      answer.textContent = isEmpty || piece.replaces ? piece.text : answer.textContent + piece.text;
      isEmpty = false;
    }
  } catch (error) {
    if (error instanceof ConversationEnded) contextId = undefined;
    answer.className = 'error';
    answer.textContent = error.message;
  }
  send.disabled = false;
});

function show(who, text) {
  const item = document.createElement('li');
  item.className = who;
  item.textContent = text;
  messages.append(item);
  return item;
}
