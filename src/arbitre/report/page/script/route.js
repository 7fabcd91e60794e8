// Goes to what the address names: an example, an entry of a document, or a section.

const route = () => {
  if (namesDocument()) reveal(at("explorer"));
  return (list && followCause()) || (documents.length > 0 && follow()) || (location.hash.length > 1 && followPlain());
};
window.addEventListener("hashchange", route);
const went = route();
if (list && !picked.cause) showCause(causeList[0], 0, { push: went ? null : false });
