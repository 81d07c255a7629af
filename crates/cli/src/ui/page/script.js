// A bead that somebody asks for by its address is shown with all that it has; on paper every bead is.
const open = () => {
  const bead = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (bead) { bead.open = true; bead.scrollIntoView(); }
};
addEventListener('hashchange', open);
addEventListener('beforeprint', () => document.querySelectorAll('details').forEach((it) => { it.open = true; }));
open();
document.documentElement.dataset.ready = 'yes';
